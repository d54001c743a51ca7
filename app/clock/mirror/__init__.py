"""What is held of the server and how complete that is. It writes pages of listings and punches, and never talks to the server."""
