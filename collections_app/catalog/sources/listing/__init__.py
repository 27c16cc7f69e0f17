"""One listing of whatever shape: where its rows are, and how one is read."""
