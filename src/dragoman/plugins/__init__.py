"""Dragoman inside other people's servers: one file each, imported by that server alone.

Nothing of Dragoman imports this room; it knows the dialect parser, and each file the interface of its one server.
"""
