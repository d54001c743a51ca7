"""What the people who are asked read, in their languages: marking a text, the catalogues, days and numbers in words."""
