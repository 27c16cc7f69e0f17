"""Moving in: the configuration first, then the evidence that names it."""

from evidence.moving_in.configuration import move_configuration
from evidence.moving_in.folder import Folder
from evidence.moving_in.logs import EvidenceMover, Progress
from evidence.moving_in.report import Report


def move_in(folder: Folder, *, dry_run: bool = False, progress: Progress = lambda path, done, size: None) -> Report:
    """Bring over what is not here yet, and report on every file. With `dry_run` the report is the same, and nothing stays.

    `progress` hears of a file how many of its bytes are done. A second run finds everything here and writes nothing.
    """
    report = Report()
    directory = move_configuration(folder, report, dry_run=dry_run)
    EvidenceMover(folder, report, directory, dry_run=dry_run, progress=progress).move()
    return report
