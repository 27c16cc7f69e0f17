"""The bench method, from a request to its reply: seat, record, ask, merge. run.py tells the story, running.py its end."""
