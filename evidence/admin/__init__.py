"""The call log in the dashboard, to read and to judge, and what it comes to. Rows are written by what happens, not by hand."""

from evidence.admin.panels import PanelAdmin
from evidence.admin.standing.leaderboard import TallyAdmin

__all__ = ["PanelAdmin", "TallyAdmin"]
