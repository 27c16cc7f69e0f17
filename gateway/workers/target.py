"""Whom a worker asks, and how: a model of the bench as plain values. Holds no key."""

from typing import Any

from collections_app.models import DecisionModel, Endpoint, LanguageModel
from gateway.conf import conf
from gateway.upstream.contract import Target
from gateway.upstream.decisions.contract import DecisionTarget


def target_of(model: LanguageModel) -> Target:
    """Whom to ask. A model's own time-outs come before its endpoint's, and those before the site's."""
    endpoint = model.endpoint
    return _target(
        endpoint,
        model.served_id,
        options=model.options,
        connect_timeout=model.connect_timeout or endpoint.connect_timeout or conf.connect_timeout,
        first_token_timeout=model.first_token_timeout or endpoint.first_token_timeout or conf.first_token_timeout,
        seat_timeout=model.seat_timeout or endpoint.seat_timeout or conf.seat_timeout,
    )


def decision_target(model: DecisionModel, seconds: float) -> DecisionTarget:
    """Whom to ask for a decision, within so many seconds whatever its endpoint allows a seat."""
    endpoint = model.endpoint
    target = _target(
        endpoint,
        model.served_id,
        connect_timeout=min(seconds, endpoint.connect_timeout or conf.connect_timeout),
        first_token_timeout=seconds,
        seat_timeout=seconds,
    )
    return DecisionTarget(endpoint=target, dialect=model.dialect, url=model.url)


def _target(endpoint: Endpoint, served_id: str, **how: Any) -> Target:
    return Target(
        protocol=endpoint.protocol,
        base_url=endpoint.base_url,
        model=served_id,
        api_key_env=endpoint.api_key_env,
        typed_key_id=str(endpoint.typed_key_id or ""),
        **how,
    )
