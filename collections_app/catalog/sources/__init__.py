"""One module for each place that lists models: bytes or JSON in, a Listing out. Reads no row and asks nobody."""
