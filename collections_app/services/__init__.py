"""Changing the roster: a collection's members, a model's status, the whole bench from a file."""
