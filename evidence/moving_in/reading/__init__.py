"""The predecessor's files as frozen values: one module a kind of file. Writes nothing and knows no row."""
