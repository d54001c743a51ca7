"""What happens when a request fails: refusals.py says what an error means to a person, answers.py turns it into a page,
a fragment for htmx, or the envelope of the JSON APIs; ways_on.py says where the page of an error can lead."""
