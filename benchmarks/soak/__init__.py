"""Half an hour of everything at once, at half load: what grows, what fails, and what is left unfinished."""
