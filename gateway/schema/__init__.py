"""What callers may send and will hear, as OpenAPI: one module a format, beside it what formats share.

Declared as data, by hand; `make schema` asks a running server whether it is true. Knows routes, no row, and no name of one.
"""
