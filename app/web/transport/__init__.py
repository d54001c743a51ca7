"""How bytes reach and leave a client that may be slow: one connection, the body of a request, answers written ahead, live streams."""
