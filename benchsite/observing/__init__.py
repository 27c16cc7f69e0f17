"""What can be seen of a running bench, and by whom: /healthz, /readyz, /metrics, and whether there are traces.

What is counted, is counted where it happens (gateway/telemetry, evidence/counting/given.py).
"""
