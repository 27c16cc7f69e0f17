"""The dashboard's frame: its pages in groups, as far as this installation has them, its styles and its icon.

The admin's theme asks for them by name (UNFOLD in the settings); the pages are each app's own.
"""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from collections_app.services.alerts import open_alerts

ALERTS = "collections_app.Alert"
# Title of a group, and of each page in it: title, symbol, the rows it shows or the name of its address, and what for.
GROUPS = (
    (
        "Ask",
        (
            ("Playground", "chat", "playground:page", "Ask a collection from here, and judge each answer as it lands."),
            ("Gateway", "forum", "evidence.Panel", "What was asked, every seat's answer, and verdicts."),
            ("API", "api", "api:docs", "Every route in every format, with what can be sent and what comes back."),
        ),
    ),
    (
        "Bench",
        (
            ("Collections", "groups", "collections_app.Collection", "Models that answer together, asked for as bench/<name>."),
            ("Models", "neurology", "collections_app.LanguageModel", "Who can sit: an endpoint and the id it serves."),
            ("Endpoints", "dns", "collections_app.Endpoint", "Providers' APIs, and where their keys are."),
            ("Discover", "travel_explore", "admin:collections_app_discover", "Models that could be added, free ones first."),
            ("Onboarding", "add_link", "admin:collections_app_onboarding", "From a key or local server to models that answer."),
        ),
    ),
    (
        "Evidence",
        (
            ("Leaderboard", "leaderboard", "evidence.Tally", "How each model did by shape of work, and how sure that is."),
            ("Trends", "monitoring", "admin:evidence_trends", "Use, speed, failures and usefulness over time."),
            ("Verdicts owed", "gavel", "admin:evidence_owed", "Answers whose judgement would change the most."),
        ),
    ),
    (
        "Health",
        (
            ("Alerts", "notifications", ALERTS, "What to act on: went paid, gone, a key refused, a limit nearly out."),
            ("Limits left", "speed", "collections_app.CoolDown", "Who rests until when, and what is left of every limit."),
            ("Sources", "database", "collections_app.CatalogSource", "Who lists models, and when each last did."),
            ("Jobs", "schedule", "benchsite.JobRun", "What is done once a day, when it last was, and what came of it."),
        ),
    ),
    (
        "Settings",
        (
            ("Keys", "key", "keys.GatewayKey", "Who may ask what, how often and until when."),
            ("Limits", "tune", "collections_app.Limits", "How many seats a panel has, and who merges."),
            ("Shapes", "category", "collections_app.Shape", "Kinds of work, and the roles that explore on each."),
            ("Decision models", "alt_route", "collections_app.DecisionModel", "Who may say which shape a request has."),
            ("Changes", "history", "collections_app.Change", "Who changed what, when, before and after."),
            ("Staff", "person", "auth.User", "Who may log in here, where a login is asked for."),
        ),
    ),
)


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar and the first page, as the admin's theme takes them; a page whose rows have no admin is left out."""
    found = [(title, [_page(*page) for page in pages if _is_there(page[2])]) for title, pages in GROUPS]
    # One alone is where the reader is: of pages whose addresses begin alike the one that says most.
    around = [page for _, pages in found for page in pages if request.path.startswith(page["link"])]
    here = max(around, key=lambda page: len(page["link"]), default=None)
    for page in (page for _, pages in found for page in pages):
        page["active"] = page is here
    return [{"title": title, "items": pages} for title, pages in found if pages]


def no_colours(request: HttpRequest) -> dict[str, dict[str, str]]:
    return {}


def colours(request: HttpRequest) -> str:
    return static("benchsite/theme.css")


def light_or_dark(request: HttpRequest) -> str:
    return static("benchsite/colours.js")


def frame(request: HttpRequest) -> str:
    return static("benchsite/frame.css")


def strict(request: HttpRequest) -> str:
    return static("benchsite/strict.js")


def reachable(request: HttpRequest) -> str:
    return static("benchsite/reachable.js")


def stylesheet(request: HttpRequest) -> str:
    return static("collections_app/roster.css")


def icon(request: HttpRequest) -> str:
    return static("benchsite/icon.svg")


def _is_there(label: str) -> bool:
    return ":" in label or admin.site.is_registered(apps.get_model(label))


def _page(title: str, icon: str, label: str, about: str) -> dict[str, Any]:
    name = label if ":" in label else f"admin:{label.lower().replace('.', '_')}_changelist"
    page = {"title": title, "icon": icon, "link": reverse(name), "about": about}
    return page | {"badge": open_alerts()} if label == ALERTS else page
