"""What a process of the site does for the sake of the others: whose folder it is, that it is there, what changes."""
