"""Who is asked a survey and has not answered it, and what is done about that."""
