"""The HTTP server: the calls of a home, for programs elsewhere.

It runs in a process of its own beside the one that folds. Events it appends to the log itself, as any process may; all
else it asks that one over the home's socket, as every other client does. So neither waits for the other's work, and
there is one gate (streams/runtime/requests.py) for all requests.

    keys.py     who may ask: keys, the spaces they are for, and what they may do there
    door.py     every call to the home passes here, and is checked against the key of who makes it
    holder.py   connections to the home's socket
    recording.py  events on their way to the log
    bodies.py   the shapes in which events are sent
    importing.py  bodies in others' formats, read by the importers
    limits.py   what every request passes first: size, rate, the key; and how errors are told
    following.py  the log as it grows, for any number of listeners
    routes.py   the routes; app.py puts all of it together, /mcp too
    page/       a memory as people look at it
    beside.py   the process, started and stopped by the one that folds
"""
