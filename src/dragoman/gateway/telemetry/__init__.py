"""What an exchange came to, as a record, metrics, spans and log lines.

Watches; decides nothing.
"""
