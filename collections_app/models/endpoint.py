"""An endpoint: a provider's API, the protocol it speaks, and where its key is."""

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from collections_app.models.fields import Timeouts, check_text, name_rule

env_name_rule = RegexValidator(r"\A[A-Za-z_][A-Za-z0-9_]{0,59}\Z", "The name of an environment variable.")


def check_base_url(url: str) -> None:
    """Raise ValidationError for a base URL that prompts and keys must not be sent to."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise ValidationError(f"Not a URL: {error}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ValidationError("An http:// or https:// URL, such as https://openrouter.ai/api/v1.")
    if parts.username or parts.password:
        raise ValidationError("No user name or password in the URL: name an environment variable for the key.")
    if parts.query or parts.fragment:
        raise ValidationError("No query and no fragment: routes are added to the end of this URL.")


class Endpoint(Timeouts):
    class Protocol(models.TextChoices):
        OPENAI_CHAT = "openai_chat", "OpenAI chat completions"
        OPENAI_RESPONSES = "openai_responses", "OpenAI Responses"
        ANTHROPIC_MESSAGES = "anthropic_messages", "Anthropic Messages"
        GEMINI = "gemini", "Gemini"
        OLLAMA = "ollama", "Ollama"
        LLM_CLI = "llm_cli", "the llm command"

    name = models.CharField(max_length=32, unique=True, validators=[name_rule])
    protocol = models.CharField(max_length=30, choices=Protocol.choices, default=Protocol.OPENAI_CHAT)
    base_url = models.CharField(
        "base URL",
        max_length=500,
        validators=[check_text, check_base_url],
        help_text="Without the route: https://openrouter.ai/api/v1",
    )
    api_key_env = models.CharField(
        "key's environment variable",
        max_length=60,
        blank=True,
        validators=[env_name_rule],
        help_text="The environment variable that holds this provider's key; empty for none.",
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
