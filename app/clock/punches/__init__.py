"""The stored punches as everybody else may use them: one filter, exact counts, and the only place that marks what is judged or counted again."""
