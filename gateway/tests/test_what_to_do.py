from typing import get_args

from evidence.admin.panels.advice import BY_KIND
from gateway.upstream.contract import ErrorKind


def test_the_panels_page_says_of_every_kind_of_error_what_to_do():
    assert set(BY_KIND) == set(get_args(ErrorKind))
