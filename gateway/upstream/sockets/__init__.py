"""Sockets under the one door out: the clock of a call, connections that obey it, and how they fail."""
