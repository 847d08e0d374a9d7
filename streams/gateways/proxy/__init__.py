"""A proxy before a model: who changes the base URL of his client has memory.

    dialects.py  where a request asks and where words can be put into it; what a streamed reply comes to
    session.py   which conversation a request belongs to
    app.py       passing on, byte for byte; what is asked of the memory before, and told to it after

When memory fails or is slow, the call goes through without it.
"""
