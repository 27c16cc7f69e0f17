"""What calls tell about models and limits, and what follows: windows learned, cool-downs, retirement, alerts.

Values of calls come in, rows change; nothing here asks a provider or knows a panel.
"""

from collections_app.services.findings.applying import apply_findings, is_news
from collections_app.services.findings.finding import Finding
from collections_app.services.findings.pruning import prune_health

__all__ = ["Finding", "apply_findings", "is_news", "prune_health"]
