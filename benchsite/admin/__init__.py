"""The site's own pages of the dashboard: staff, and the daily jobs."""

from benchsite.admin.jobs import JobRunAdmin
from benchsite.admin.staff import StaffAdmin

__all__ = ["JobRunAdmin", "StaffAdmin"]
