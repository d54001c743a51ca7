"""The results of one survey in other forms than its page: its table, its comments, its versions side by side."""
