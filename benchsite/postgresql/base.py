"""Django's own connection to PostgreSQL; that a server takes no writes is an OperationalError, as if it did not answer.

That is what one says that has just become another's standby: what was to be written can be, in a moment and elsewhere. To
Django it is an InternalError, after which nobody tries again, and nobody connects anew.
"""

from types import TracebackType

from django.db import OperationalError
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.errors import ReadOnlySqlTransaction


class _Errors(DatabaseErrorWrapper):
    def __init__(self, connection: "DatabaseWrapper") -> None:
        super().__init__(connection)
        self._connection = connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if isinstance(error, ReadOnlySqlTransaction):
            # Whoever keeps its connection has it closed after this use.
            self._connection.errors_occurred, self._connection.close_at = True, 0.0
            raise OperationalError(*error.args).with_traceback(traceback) from error
        super().__exit__(kind, error, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        return _Errors(self)
