"""What a person wrote and has not sent yet."""
