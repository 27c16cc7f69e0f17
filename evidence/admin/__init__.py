"""The call log in the dashboard, to read: its rows are written by what happens, never by hand."""

from evidence.admin.panels import PanelAdmin

__all__ = ["PanelAdmin"]
