"""Numbers of people in a sentence. Pure."""


def people(number: int) -> str:
    """`1 person`, `1,214 people`."""
    return f"{number:,} {'person' if number == 1 else 'people'}"
