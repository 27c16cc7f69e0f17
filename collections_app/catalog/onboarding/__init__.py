"""Onboarding: providers whose keys are at hand and servers of this machine, made endpoints with models of theirs."""
