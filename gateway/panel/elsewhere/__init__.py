"""Panels and seats in the hands of other processes: waiting for what becomes of them, by what the call log says."""
