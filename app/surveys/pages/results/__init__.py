"""The results of one survey, beside those on its page: its table, its comments, its versions side by side."""
