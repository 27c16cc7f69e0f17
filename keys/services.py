"""Who is asking. As installed every caller is `local`; keys decide what a caller may ask for.

Knows headers and names, no panel and no format.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request, by the name that the call log keeps."""

    name: str


LOCAL = Caller("local")
