"""Why a caller is turned away: which of these, and what to do. Never the key itself, nor any part of it.

KeyRefused             401   any of these; carries WWW-Authenticate
  KeyMissing                 nothing was sent that is a key
  KeyMalformed               what was sent cannot be one
  KeyUnknown                 no key of this bench
  KeyRevoked
  KeyExpired
TooManyRequests        429   more than the key's requests a minute; `wait` seconds until the next
"""

from collections.abc import Mapping
from datetime import datetime

from rest_framework.exceptions import APIException

from keys.key_text import PREFIX

HOW_TO_SEND = "Send one as Authorization: Bearer <key>, x-api-key or x-goog-api-key"
WHERE_FROM = "Keys are made in the dashboard, or with python manage.py create_key NAME"


class KeyRefused(APIException):
    status_code = 401
    code = "invalid_api_key"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.headers: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}


class KeyMissing(KeyRefused):
    def __init__(self) -> None:
        super().__init__(f"This bench asks for a gateway key, and none was sent. {HOW_TO_SEND}. {WHERE_FROM}.")


class KeyMalformed(KeyRefused):
    def __init__(self) -> None:
        super().__init__(
            f"What was sent is malformed: no gateway key looks like that. A key begins with {PREFIX}, and all of it has to be "
            f"sent, with nothing around it. {WHERE_FROM}."
        )


class KeyUnknown(KeyRefused):
    def __init__(self) -> None:
        super().__init__(f"The gateway key that was sent is unknown to this bench. {WHERE_FROM}.")


class KeyRevoked(KeyRefused):
    def __init__(self, name: str, when: datetime) -> None:
        super().__init__(f'The gateway key "{name}" was revoked on {when:%Y-%m-%d}. Ask whoever runs this bench for another.')


class KeyExpired(KeyRefused):
    def __init__(self, name: str, when: datetime) -> None:
        super().__init__(
            f'The gateway key "{name}" expired on {when:%Y-%m-%d at %H:%M} UTC. Ask whoever runs this bench for another.'
        )


class TooManyRequests(APIException):
    status_code = 429

    def __init__(self, name: str, rpm: int, wait: int) -> None:
        """`wait` is in seconds, at least 1."""
        super().__init__(
            f'The gateway key "{name}" may ask {rpm} {"time" if rpm == 1 else "times"} a minute, and has. '
            f"Ask again in {wait} {'second' if wait == 1 else 'seconds'}."
        )
        self.wait = wait
