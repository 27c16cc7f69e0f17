"""Sockets under the catalog's one door out: connections that obey the seconds of a fetch, and how they fail."""
