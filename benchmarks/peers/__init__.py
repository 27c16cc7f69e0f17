"""Servers of others that are measured beside the product, each from an environment of its own. No dependency of anything."""
