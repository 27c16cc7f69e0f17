"""What is known about models elsewhere: where it is read, how it is merged, and what follows for this bench."""
