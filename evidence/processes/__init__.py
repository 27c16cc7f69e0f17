"""The processes of a bench that has several: which this is, which have gone silent, and what becomes of what those held.

Asks no model and seats nobody.
"""
