"""Limits of providers, counted across processes and kept: what a call may draw before it goes out, and what it drew.

One counter, in the database; whoever asks a model reserves first, and settles when the call has ended.
"""

from collections_app.services.quotas.claims import Claim, Refused, Reservation, Used
from collections_app.services.quotas.forecasts import Forecast, forecast, forecast_accounts, forecast_endpoint, forecasts
from collections_app.services.quotas.reserving import reserve, settle
from collections_app.services.quotas.telling import LimitTold, correct

__all__ = [
    "Claim",
    "Forecast",
    "LimitTold",
    "Refused",
    "Reservation",
    "Used",
    "correct",
    "forecast",
    "forecast_accounts",
    "forecast_endpoint",
    "forecasts",
    "reserve",
    "settle",
]
