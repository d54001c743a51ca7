"""Everything that every page needs: requests, sessions, forms, lists, templates. The only place that knows HX-* headers."""
