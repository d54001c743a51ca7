"""The apps that people rate and open: their rows, words and icons."""
