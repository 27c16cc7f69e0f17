"""How the suite's property tests are run: enough examples to find a fault, few enough for everybody to run them every time."""

from hypothesis import settings

settings.register_profile("suite", max_examples=30, deadline=None)
settings.load_profile("suite")
