"""What the server says of its work: one line for each request, and lines that hold nothing of what was sent.

Nothing here decides what is worth a line; whoever calls a logger does.
"""
