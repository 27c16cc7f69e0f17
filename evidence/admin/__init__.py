"""The call log in the dashboard, to read, and what it comes to: rows are written by what happens, never by hand."""

from evidence.admin.panels import PanelAdmin
from evidence.admin.standing.leaderboard import TallyAdmin

__all__ = ["PanelAdmin", "TallyAdmin"]
