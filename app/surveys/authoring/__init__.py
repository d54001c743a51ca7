"""Writing a survey: its definition, its versions, who may be asked, and surveys as files."""
