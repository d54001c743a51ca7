"""What one person answered: reading it back, withdrawing an agreement or giving it again, and taking it along."""
