"""Adding models: Discover, the catalogs as one list, and Onboarding, from a key or a local server to models that answer."""
