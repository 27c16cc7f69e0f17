"""Every setting and environment variable, in groups; runs with none of them set.

Variables are listed for people in README.md and .env.example, and a test compares the three.
"""

import os
import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from benchsite.database import database_in
from benchsite.environment.redis_url import redis_url_in
from benchsite.environment.variables import Environment
from benchsite.observing import traces
from benchsite.processes.channel_layer import channel_layer_by, pages_layer_by
from benchsite.secret import secret_key_in

BASE_DIR = Path(__file__).resolve().parent.parent


env = Environment()
env.read_file(BASE_DIR / ".env")

BENCH_VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

# --- Where it runs -------------------------------------------------------------------------------

BENCH_BIND = env.str("BENCH_BIND", default="127.0.0.1")
BENCH_PORT = env.int("BENCH_PORT", default=8123)
BENCH_DATA_DIR = BASE_DIR / env.str("BENCH_DATA_DIR", default="var")
BENCH_DATA_DIR.mkdir(parents=True, exist_ok=True)
BENCH_ALLOWED_HOSTS = env.list("BENCH_ALLOWED_HOSTS", default=[])
BENCH_ALLOWED_ORIGINS = env.list("BENCH_ALLOWED_ORIGINS", default=[])
BENCHWARMERS_ADMIN_TOKEN = env.str("BENCHWARMERS_ADMIN_TOKEN", default="").strip()
BENCHWARMERS_REQUIRE_KEYS = env.switch("BENCHWARMERS_REQUIRE_KEYS", default=False)
# The URL that others use, without a slash at its end.
BENCHWARMERS_PUBLIC_URL = env.str("BENCHWARMERS_PUBLIC_URL", default="").strip().rstrip("/")
BENCH_TRUSTED_PROXIES = env.list("BENCH_TRUSTED_PROXIES", default=[])
BENCH_DRAIN_SECONDS = env.float("BENCH_DRAIN_SECONDS", default=30)

# The bench that commands and agents ask, and with which gateway key; without, the one that runs from this folder.
BENCHWARMERS_URL = env.str("BENCHWARMERS_URL", default="").strip().rstrip("/")
BENCHWARMERS_KEY = env.str("BENCHWARMERS_KEY", default="").strip()

# --- Asking --------------------------------------------------------------------------------------

BENCH_CLIENT = env.str("BENCH_CLIENT", default="builtin")
if BENCH_CLIENT not in ("builtin", "llm"):
    raise ImproperlyConfigured(f'BENCH_CLIENT is "builtin" or "llm", not "{BENCH_CLIENT}".')
BENCH_SEAT_TIMEOUT = env.float("BENCH_SEAT_TIMEOUT", default=420)
BENCH_FIRST_TOKEN_TIMEOUT = env.float("BENCH_FIRST_TOKEN_TIMEOUT", default=120)
BENCH_CONNECT_TIMEOUT = env.float("BENCH_CONNECT_TIMEOUT", default=10)
BENCH_SEAT_WORKERS = env.int("BENCH_SEAT_WORKERS", default=256)
BENCH_WORKER_POOL = env.str("BENCH_WORKER_POOL", default="gateway.workers.threads.ThreadWorkerPool")
# Who tries a model that was just added: what onboarding, an app below the gateway, calls it by.
BENCH_TRIAL = "gateway.workers.trial.try_models"
# Who finds out where a decision model answers: what its page, in the same app, calls it by.
BENCH_PROBE = "gateway.workers.deciding.probe_model"
BENCH_MAX_BODY_BYTES = env.int("BENCH_MAX_BODY_BYTES", default=20_000_000)
BENCH_KEEPALIVE_SECONDS = env.float("BENCH_KEEPALIVE_SECONDS", default=10)
BENCH_LOCAL_MODEL = env.str("BENCH_LOCAL_MODEL", default="auto")
# By source, where a catalog is read instead of where it is published (catalog/refreshing/places.py); for tests.
BENCH_CATALOG_URLS: dict[str, str] = {}

# --- Every day -----------------------------------------------------------------------------------

BENCH_DAILY_JOBS = env.switch("BENCH_DAILY_JOBS", default=True)
BENCH_LOG_DAYS = env.int("BENCH_LOG_DAYS", default=0)

# --- Seeing inside -------------------------------------------------------------------------------

BENCH_LOG_FORMAT = env.str("BENCH_LOG_FORMAT", default="text")
if BENCH_LOG_FORMAT not in ("text", "json"):
    raise ImproperlyConfigured(f'BENCH_LOG_FORMAT is "text" or "json", not "{BENCH_LOG_FORMAT}".')
# What opens /metrics and nothing else; and where a worker, which serves nothing else, serves it.
BENCH_METRICS_TOKEN = env.str("BENCH_METRICS_TOKEN", default="").strip()
BENCH_METRICS_PORT = env.int("BENCH_METRICS_PORT", default=0)
# Read, with OpenTelemetry's other variables, by its SDK (gateway/telemetry/exporting.py); without them there are no traces.
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="").strip()
BENCH_TRACES: bool = traces.wanted(os.environ) and traces.can_be_sent()

# --- Django --------------------------------------------------------------------------------------

SECRET_KEY = secret_key_in(BENCH_DATA_DIR)
DEBUG = False
# The edge (gateway/edge.py) refuses foreign hosts before Django sees a request.
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "benchsite.urls"
ASGI_APPLICATION = "benchsite.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
APPEND_SLASH = True
# The edge holds bodies to BENCH_MAX_BODY_BYTES and answers in the format's own shape; Django's own
# 2.5 MB limit would turn a larger prompt into an HTML page.
DATA_UPLOAD_MAX_MEMORY_SIZE = None
# An image is written down nowhere, not even while it is uploaded: Django would put what is larger than this into a file.
FILE_UPLOAD_MAX_MEMORY_SIZE = BENCH_MAX_BODY_BYTES + 1
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "auditlog",
    "rest_framework",
    "channels",
    "benchsite",
    "collections_app",
    "keys",
    "evidence",
    "gateway",
]

# The dashboard's. Gateway routes pass none of it: the edge has done their checks, and each of these
# would cost a request a thread hop (gateway/routing.py).
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "benchsite.dashboard.page_headers.PageHeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "benchsite.dashboard.admin_token.TokenSessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "benchsite.dashboard.local_login.LocalLoginMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "auditlog.middleware.AuditlogMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- The dashboard's login -----------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["benchsite.dashboard.admin_token.TokenBackend", "django.contrib.auth.backends.ModelBackend"]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
# A browser sends a host's cookies to all of its ports: two benches on one machine must not log each other out. And behind one
# public URL every process of a bench has the same, whichever its own port.
_COOKIES_OF = re.sub(r"[^A-Za-z0-9.-]", "_", urlsplit(BENCHWARMERS_PUBLIC_URL).netloc) or BENCH_PORT
SESSION_COOKIE_NAME = f"bench_session_{_COOKIES_OF}"
CSRF_COOKIE_NAME = f"bench_csrf_{_COOKIES_OF}"
SESSION_COOKIE_AGE = 7 * 24 * 3600
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BENCHWARMERS_PUBLIC_URL.startswith("https://")
# A proxy that ends TLS asks us by http, and its Host may be another.
CSRF_TRUSTED_ORIGINS = [BENCHWARMERS_PUBLIC_URL] if BENCHWARMERS_PUBLIC_URL else []

# --- The database --------------------------------------------------------------------------------

# SQLite in the data folder, or the PostgreSQL that is named (benchsite/database.py).
DATABASES = {"default": database_in(env.str("DATABASE_URL", default="").strip(), BENCH_DATA_DIR)}

# Where several processes count together; without, each counts for itself.
REDIS_URL = redis_url_in(env.str("REDIS_URL", default=""))

# --- What is served ------------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

# How open pages hear of panels, and answers of workers come home: by Redis, or within this process.
CHANNEL_LAYERS = {"default": channel_layer_by(REDIS_URL), "pages": pages_layer_by(REDIS_URL)}

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "EXCEPTION_HANDLER": "gateway.views.refusal",
    "DEFAULT_SCHEMA_CLASS": "gateway.schema.spectacular.DeclaredSchema",
}

# /api-schema: what is declared in gateway/schema, as one document.
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.1",
    "TITLE": "Benchsite",
    "DESCRIPTION": (BASE_DIR / "gateway/schema/about.md").read_text(),
    "VERSION": BENCH_VERSION,
    "LICENSE": {"name": "MIT"},
    "SERVERS": [{"url": "/", "description": "This server."}],
    "SCHEMA_PATH_PREFIX": "",
    "POSTPROCESSING_HOOKS": ["gateway.schema.spectacular.with_components", "benchsite.api.site_paths.with_site_paths"],
}

UNFOLD = {
    "SITE_TITLE": "Benchsite",
    "SITE_HEADER": "Benchsite",
    "SITE_SYMBOL": "groups",
    "SHOW_HISTORY": True,
    "SITE_URL": None,  # the site is the dashboard: there is no other to view
    "SHOW_VIEW_ON_SITE": False,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": "benchsite.dashboard.navigation.icon"}],
    # Its colours are a stylesheet's: as a setting they would be written into every page.
    "COLORS": "benchsite.dashboard.navigation.no_colours",
    "STYLES": [f"benchsite.dashboard.navigation.{name}" for name in ("colours", "frame", "stylesheet")],
    "SCRIPTS": [f"benchsite.dashboard.navigation.{name}" for name in ("light_or_dark", "strict", "reachable")],
    "DASHBOARD_CALLBACK": "benchsite.dashboard.overview.overview",
    "LOGIN": {"form": "benchsite.dashboard.login.LoginForm"},
    "SIDEBAR": {"navigation": "benchsite.dashboard.navigation.groups", "show_search": True, "command_search": True},
}

# What the change log keeps. Names, which outlive the rows they name, and neither addresses nor a header's value: what a
# request says of itself is not evidence.
AUDITLOG_USE_FK_STRING_REPRESENTATION = True
AUDITLOG_DISABLE_REMOTE_ADDR = True
AUDITLOG_CID_HEADER = None
# Rows that loaddata puts in bring their own log along.
AUDITLOG_DISABLE_ON_RAW_SAVE = True

# --- Logging -------------------------------------------------------------------------------------

# One formatter for every logger, ours and the libraries': nothing of a request passes it (benchsite/log/lines.py).
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "benchsite.log.lines.LineFormatter"},
        "json": {"()": "benchsite.log.json_lines.JsonFormatter"},
    },
    "handlers": {"stderr": {"class": "benchsite.log.lines.Stderr", "formatter": BENCH_LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Django's own handlers are taken off: one of them mails errors with the whole request.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "propagate": True},
        # A refused page is in the access log already.
        "django.request": {"level": "ERROR"},
        # Below this they speak of single connections and requests, and that at any level of the root.
        **{
            name: {"level": "WARNING"}
            for name in ("asyncio", "celery", "channels", "daphne", "kombu", "mcp", "sse_starlette", "twisted")
        },
        # These quote URLs in warnings too; how a call failed is in the call log.
        **{name: {"level": "ERROR"} for name in ("httpcore", "httpcore2", "httpx", "httpx2", "requests", "urllib3")},
        # A collector of traces that is away is told of once a batch, and not at each of its tries.
        "opentelemetry": {"level": "ERROR"},
        "bench.access": {"level": "INFO"},
    },
}
# Debug pages and error mails, replaced by the error alone.
DEFAULT_EXCEPTION_REPORTER = "benchsite.log.reports.BareReporter"

# --- What `check --deploy` says that is meant so -------------------------------------------------

SILENCED_SYSTEM_CHECKS = [
    # TLS ends in a proxy, if anywhere: HSTS and the redirect from http are its to send. On loopback either would lock
    # a browser out of every other server of this machine.
    "security.W004",
    "security.W008",
]
