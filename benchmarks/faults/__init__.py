"""What breaks a bench of several processes, done to one under load, and what must be so afterwards, proved."""
