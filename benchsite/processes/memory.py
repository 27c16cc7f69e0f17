"""How the C library keeps memory for threads: in few places, so that what one gives back another is given.

Frees nothing and measures nothing.
"""

import ctypes
import os

# mallopt's number for it, in glibc's malloc.h.
M_ARENA_MAX = -8
ARENAS = 2


def keep_few_arenas() -> bool:
    """Have glibc share two arenas among all threads; whether it does. Call before there are threads.

    It gives each thread its own, up to eight for each core, and what lies free in one is of no use to the others: a server
    of many threads grew by a megabyte a minute for hours and held no more. Other C libraries keep memory in other ways, and
    an operator's MALLOC_ARENA_MAX is left alone.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt and mallopt(M_ARENA_MAX, ARENAS))
