"""What HTTP needs from a server: a connection, the body of a request, the methods of an address, answers written ahead,
live streams."""
