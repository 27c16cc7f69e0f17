"""The steps of a refresh: what each source is asked, its rows, and which of them are about this bench."""
