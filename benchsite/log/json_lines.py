"""The same lines as JSON, one object each, for whoever collects logs (BENCH_LOG_FORMAT=json).

What a line holds nothing of, an object holds nothing of either.

    {"time": "2026-11-29T17:59:03.123Z", "level": "INFO", "logger": "bench.access", "message": "...", "method": "POST", ...}
"""

import logging
from datetime import UTC, datetime
from typing import Any

import orjson

from benchsite.log.lines import LineFormatter

# What whoever logs a line hands over beside its words, as fields of their own: `extra={FIELDS: {...}}`.
FIELDS = "bench_fields"


class JsonFormatter(LineFormatter):
    """A record as one JSON object; `error` has where an error arose, line by line."""

    def format(self, record: logging.LogRecord) -> str:
        said, error = self.parts(record)
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line: dict[str, Any] = {"time": moment, "level": record.levelname, "logger": record.name, "message": said}
        if error:
            line["error"] = error
        # No field of its own stands for any of these.
        line = {**line, **getattr(record, FIELDS, {}), **line}
        return orjson.dumps(line).decode()
