"""Which employee stands behind which code: the decision order, the acts of operators, and rows with their history."""
