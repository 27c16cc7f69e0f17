"""`make lint` looks pins up; what it could not look up it must not call clean."""

import json
import runpy

from django.conf import settings

check = runpy.run_path(str(settings.BASE_DIR / ".ci" / "check_advisories.py"))


def report(*packages):
    return json.dumps({"dependencies": packages})


def test_a_known_fault_is_wrong():
    fault = {"id": "PYSEC-1", "fix_versions": ["5.2.2"]}
    found = check["audited"](report({"name": "django", "version": "5.2.1", "vulns": [fault]}))
    assert found.wrong == ("django 5.2.1: PYSEC-1, fixed in 5.2.2",)


def test_a_pin_that_no_index_knows_advisories_of_is_not_looked_up():
    found = check["audited"](report({"name": "a", "skip_reason": "not found"}, {"name": "b", "version": "1", "vulns": []}))
    assert found.unknown == ("advisories: the index serves none for 1 of 2 pins",)
    assert check["audited"]("").unknown


def test_pins_are_read_with_their_markers():
    lock = 'a-b[extra]==1.2 \\\n    --hash=sha256:1\nc==3 ; sys_platform == "win32" \\\n    --hash=sha256:2\nd==4\n'
    assert check["pins"](lock) == [("a-b", "1.2", ""), ("c", "3", '; sys_platform == "win32"'), ("d", "4", "")]
