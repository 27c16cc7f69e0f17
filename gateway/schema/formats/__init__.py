"""What each format says, beside its twin in gateway/wire: one module a format."""
