"""Numbers of things in a sentence. Pure."""


def count(number: int, one: str, several: str) -> str:
    """`1 record`, `1,214 records`."""
    return f"{number:,} {one if number == 1 else several}"


def people(number: int) -> str:
    """`1 person`, `1,214 people`."""
    return count(number, "person", "people")
