"""llama.cpp's GET /props: the window that its server gives one request, and whether it takes images.

What the model was trained for is in its listing; a request gets no more than is served here.
"""

from pathlib import PurePosixPath

from collections_app.catalog.entry import Entry, SourceError
from collections_app.catalog.reading import Item, LeftOut, id_problem, mapping, parse_json
from collections_app.catalog.sources.kinds import LOCAL


def read(body: bytes) -> Entry:
    """Return what is served; the id is "" where the server does not name it. Raises SourceError when it is not /props."""
    item = Item(mapping(parse_json(body)), LeftOut(), "/props")
    settings = item.inner("default_generation_settings")
    if not settings.fields:
        raise SourceError("it is not what llama.cpp says of itself")
    alias, path = item.fields.get("model_alias"), item.text("model_path", most=1000)
    named = alias if not id_problem(alias) else PurePosixPath(path.replace("\\", "/")).name
    return Entry(
        "" if id_problem(named) else str(named),
        free=LOCAL,
        # Of one slot: a server that answers several at once has shared its window out among them already.
        context_window=settings.tokens("n_ctx") or item.tokens("n_ctx"),
        vision=item.inner("modalities").flag("vision"),
    )
