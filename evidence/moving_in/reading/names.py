"""Names as this bench can hold them: the predecessor's aliases have capitals, and its keys are named in another place."""

import re

_FOREIGN = re.compile(r"[^a-z0-9._:/-]+")
_VARIABLE = re.compile(r"[^A-Z0-9]+")
# As the predecessor names keys, with what people write by hand; anything longer is rather a key than its name.
_KEY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_ITSELF_A_KEY = re.compile(r"(?i)(sk|bwk|gsk|pk|nvapi|hf|aiza|xai)[-_]?[a-z0-9_-]{12,}")
# Drawn, not thought of: many providers' keys are 32 letters and digits and begin like no other's.
_DRAWN = re.compile(r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}")
LONGEST_ALIAS = 64
OWN = ("BENCH_", "BENCHWARMERS_", "DJANGO_", "DATABASE_URL", "REDIS_URL")


def alias_here(alias: str) -> str:
    """An alias in small letters, without characters that aliases have not here; may be empty."""
    return _FOREIGN.sub("-", alias.strip().lower()).lstrip("._:/-")[:LONGEST_ALIAS]


def is_key_name(name: str) -> bool:
    """Whether a text is the name of a key, and not perhaps the key itself."""
    return bool(_KEY_NAME.fullmatch(name)) and not _ITSELF_A_KEY.fullmatch(name) and not _DRAWN.search(name)


def key_variable(name: str) -> str:
    """The environment variable for a key of that name: openrouter-2 gives OPENROUTER_2_API_KEY."""
    stem = _VARIABLE.sub("_", name.upper()).strip("_")
    variable = f"{stem}_API_KEY"
    return f"KEY_{variable}" if stem[:1].isdigit() or variable.startswith(OWN) else variable


def old_key_variable(name: str) -> str:
    """The environment variable in which the predecessor looked for it first."""
    return f"BENCHWARMERS_KEY_{_VARIABLE.sub('_', name.upper())}"
