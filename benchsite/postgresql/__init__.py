"""Django's PostgreSQL, of which one that can only be read counts as one that is away. Settings name it (database.py)."""
