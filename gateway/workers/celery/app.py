"""The Celery application: how seats are queued, so that a message is lost, doubled or late without harm.

Knows no task's code: whoever queues seats does not load what asks them.
"""

import os
from typing import Any

from celery import Celery
from django.conf import settings
from kombu.entity import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")

ASK_SEAT = "gateway.ask_seat"
SEATS, JOBS = "bench-seats", "bench-jobs"
# Seconds after which an unacknowledged message may be given to another worker, when one next looks: as soon as it starts, then
# every 100 seconds. What a killed worker had begun, nobody begins again: the seat's row says that it was taken.
TAKEN_FOR_LOST_AFTER = 30
# Seconds: a broker that answers slower is away.
CONNECT_SECONDS, ANSWER_SECONDS = 2.0, 5.0


def _configuration() -> dict[str, Any]:
    return {
        "broker_url": settings.REDIS_URL or None,
        "broker_connection_timeout": CONNECT_SECONDS,
        "broker_connection_retry_on_startup": True,
        # A worker waits for its broker for as long as that is away, or takes nothing: one that died would lose its seats.
        "broker_connection_max_retries": None,
        "broker_channel_error_retry": True,
        "broker_transport_options": {
            "visibility_timeout": TAKEN_FOR_LOST_AFTER,
            "socket_connect_timeout": CONNECT_SECONDS,
            "socket_timeout": ANSWER_SECONDS,
            "socket_keepalive": True,
            "health_check_interval": 10,
            # Whoever queues a seat is told at once that the broker is away, instead of waiting for it for ever.
            "max_retries": 0,
        },
        # No answer is ever kept by Celery: it comes home by the channel layer, and is in the call log.
        "result_backend": None,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        # Each with an exchange of its own: by the default one, what is sent to either would come to both.
        "task_queues": [Queue(name, Exchange(name), routing_key=name) for name in (SEATS, JOBS)],
        "task_default_queue": SEATS,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_pool": "threads",
        "worker_concurrency": settings.BENCH_SEAT_WORKERS,
        "worker_send_task_events": False,
        "task_send_sent_event": False,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        # When daily jobs are due is in their rows: beat has nothing of its own to remember.
        "beat_scheduler": "celery.beat:Scheduler",
        "timezone": "UTC",
        "enable_utc": True,
    }


seat_app = Celery("benchsite")
seat_app.config_from_object(_configuration())
