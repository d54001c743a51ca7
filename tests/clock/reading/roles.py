"""Direction and role."""

BY_CODE = ("IN", "OUT", "BREAK_OUT", "BREAK_IN", "OT_IN", "OT_OUT")
OF_DIRECTION = {"in": "IN", "out": "OUT", "undirected": "ANY"}
ORDER_OF_EQUAL_INSTANTS = {"BREAK_OUT": 0, "BREAK_IN": 1, "ANY": 2, "OUT": 3, "OT_OUT": 3, "IN": 4, "OT_IN": 4}


def role_now(world, punch):
    direction = world.terminals[punch.terminal].direction
    if direction == "by_code":
        return BY_CODE[punch.code] if punch.code in range(6) else None
    return OF_DIRECTION[direction]


def kind_of(role):
    return "overtime" if role in ("OT_IN", "OT_OUT") else "regular"


def plain(role):
    """OT_IN and OT_OUT follow the rows of IN and OUT."""
    return role.removeprefix("OT_")
