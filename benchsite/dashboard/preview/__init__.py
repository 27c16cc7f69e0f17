"""Who would sit: a collection's next panel, seated as a real one is, with nobody asked and nothing written down."""
