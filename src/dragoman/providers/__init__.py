"""Who serves models and what their families do, as rows; how a key is proved and where a request goes.

Sends nothing, and knows no request's content.
"""
