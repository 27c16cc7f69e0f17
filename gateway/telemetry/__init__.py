"""What of asking can be seen from outside: numbers for Prometheus, and spans for whoever has a collector of traces.

Holds nothing of what was asked or answered, and no caller's name. Where it is read is the site's matter (benchsite/observing).
"""
