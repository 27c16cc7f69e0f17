"""The routes written down: /api-schema for programs, /api-docs for people."""
