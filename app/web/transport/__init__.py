"""What HTTP asks of a server: one connection, the body of a request, the methods of an address, answers written ahead, live streams."""
