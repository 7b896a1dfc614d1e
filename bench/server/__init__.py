"""A loopback server that speaks the chat completions format: the same answers to everybody, at next to no cost.

What it is to do is in the path, so any client with a base URL can ask for it:
``http://127.0.0.1:PORT/n=16,per=64/v1/chat/completions``. `Options` says what there is. It keeps no session: how far a
script of tool calls got is counted in the request.
"""
