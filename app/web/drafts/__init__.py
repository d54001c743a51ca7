"""What a person typed and has not sent yet."""
