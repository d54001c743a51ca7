"""What one person answered: reading it, withdrawing an agreement or giving it again, and downloading it."""
