"""Counting: the tallies beside the log, claims that one seat alone had, and how sure a share is."""
