"""The dashboard around the pages that each app has of its own: who gets in, what leads where, what a browser may do."""
