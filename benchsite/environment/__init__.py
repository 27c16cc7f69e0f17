"""What the environment says: variables as they were written, and in the one form that everybody understands alike."""
