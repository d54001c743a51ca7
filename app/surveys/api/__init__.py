"""The end-user API: the surveys that a person is asked, and ratings of apps."""
