"""python manage.py rotate_secrets: keep every provider's key under a new secret."""

from typing import Any

from django.core.management.base import CommandError

from collections_app.management.base import BenchCommand
from collections_app.sealing import UnsealError
from collections_app.secret_file import NAME, SecretFileError
from collections_app.services.provider_keys import rotate_secret

HELP = f"""\
Encrypt every provider's key that was typed in under a new secret, and forget the old one.

The server may run meanwhile. Cut short at any moment, every key stays readable: run it again. Copies of the data folder
made before hold the old secret and the keys under it; to be safe from them, change the keys at their providers too.

The secret is the file {NAME} in the data folder. The dashboard's own secret_key and keys in environment variables are
not touched.
"""


class Command(BenchCommand):
    help = HELP
    example = "python manage.py rotate_secrets"
    reports = True

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = rotate_secret()
        except (SecretFileError, UnsealError) as refused:
            raise CommandError(
                f"nothing was changed: {refused}. Put the right file back, or clear those keys on their endpoints' pages."
            ) from refused
        told = f"A new secret; {count} {'key is' if count == 1 else 'keys are'} kept under it."
        self.report({"keys": count}, told, as_json=options["json"])
