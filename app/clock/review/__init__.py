"""One punch before a person: what surrounds it, why it shows what it shows, and the three decisions about it."""
