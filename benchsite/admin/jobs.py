"""Daily jobs: when each ran, what came of it, when it is due, and a button that runs it now. Nothing here can be edited."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from benchsite.jobs.claims import ask_now, set_up
from benchsite.jobs.daily import JOBS
from benchsite.jobs.running import is_running
from benchsite.jobs.thread import daily_jobs
from benchsite.models import JobRun
from collections_app.admin.rows import ReadOnlyAdmin, chip

COLOURS = {JobRun.Outcome.DONE: "good", JobRun.Outcome.FAILED: "bad", JobRun.Outcome.STOPPED: "warn"}

# The admin theme's own small button.
BUTTON = (
    "font-medium inline-flex items-center rounded-default whitespace-nowrap cursor-pointer px-2.5 py-1.5 border "
    "border-base-200 bg-white shadow-xs text-important hover:bg-base-100/80 "
    "dark:border-base-700 dark:bg-transparent dark:hover:bg-base-800/80"
)


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = ("job", "went", "came_of_it", "last_run", "took", "next_run", "now")
    list_display_links = None
    list_fullwidth = True
    actions = None

    def get_urls(self) -> list[URLPattern]:
        run = path("<str:name>/run/", self.admin_site.admin_view(self.run), name="benchsite_jobrun_run")
        return [run, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Jobs are shown from the first look on, also before any has run."""
        set_up(JOBS, timezone.now())
        return super().changelist_view(request, extra_context)

    @method_decorator(require_POST)
    def run(self, request: HttpRequest, name: str) -> HttpResponse:
        """Have a job run now."""
        if not self.has_view_permission(request) or name not in JOBS:
            messages.error(request, "There is no such job.")
        elif not ask_now(name, timezone.now()):
            messages.warning(request, f"{name} is running already.")
        elif daily_jobs().alive:
            daily_jobs().wake()
            messages.success(request, f"{name} runs as soon as no other job does. Load this page again to see what came of it.")
        else:
            messages.warning(request, f"{name} is due now, and this server runs no daily jobs: manage.py run_job {name} does.")
        return redirect("admin:benchsite_jobrun_changelist")

    @admin.display(description="job", ordering="name")
    def job(self, run: JobRun) -> SafeString:
        about = JOBS[run.name].about if run.name in JOBS else "No job of this version."
        return format_html('<span class="bench-lines"><strong>{}</strong><span>{}</span></span>', run.name, about)

    @admin.display(description="status")
    def went(self, run: JobRun) -> SafeString:
        if is_running(run, timezone.now()):
            return chip("running", "note")
        if run.outcome == JobRun.Outcome.FAILED and run.failures > 1:
            return chip(f"failed {run.failures} times", "bad")
        return chip(run.get_outcome_display(), COLOURS[JobRun.Outcome(run.outcome)]) if run.outcome else chip("not run yet")

    @admin.display(description="result")
    def came_of_it(self, run: JobRun) -> SafeString:
        return format_html('<span class="bench-lines">{}</span>', run.said)

    @admin.display(description="last run (UTC)", ordering="started_at")
    def last_run(self, run: JobRun) -> str:
        return f"{run.started_at:%Y-%m-%d %H:%M}" if run.started_at else "never"

    @admin.display(description="seconds")
    def took(self, run: JobRun) -> str:
        if run.started_at is None or run.ended_at is None or run.ended_at < run.started_at:
            return ""
        return f"{(run.ended_at - run.started_at).total_seconds():.1f}"

    @admin.display(description="next due (UTC)", ordering="due_at")
    def next_run(self, run: JobRun) -> str:
        return "now" if run.due_at <= timezone.now() else f"{run.due_at:%Y-%m-%d %H:%M}"

    @admin.display(description="run")
    def now(self, run: JobRun) -> SafeString:
        # A button of the list's own form, which has the token against forged requests in it.
        url = reverse("admin:benchsite_jobrun_run", args=[run.name])
        return format_html('<button type="submit" class="{}" formaction="{}">Run now</button>', BUTTON, url)
