"""What HTTP needs from a server: a connection, the body of a request, the methods of an address, answers written ahead,
live streams.

wire.py keeps one connection, body.py reads a request, compressing.py packs an answer, streams.py holds live ones.
"""
