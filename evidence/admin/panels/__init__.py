"""Gateway: the latest panels with a chip a seat, and one panel with every answer, to read and to judge.

Everything shown is untrusted text: templates escape it, `visible` spells out what would hide or reorder it, and Markdown
goes through evidence/markdown_view.py.
"""

from evidence.admin.panels.panel_admin import PanelAdmin

__all__ = ["PanelAdmin"]
