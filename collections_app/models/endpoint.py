"""An endpoint: a provider's API, the protocol it speaks, and where its key is."""

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from collections_app.models.base_url import check_base_url
from collections_app.models.fields import RateLimits, Timeouts, check_text, name_rule
from collections_app.models.typed_key import TypedKey

env_name_rule = RegexValidator(r"\A[A-Za-z_][A-Za-z0-9_]{0,59}\Z", "The name of an environment variable.")

# What this server itself is configured by. Named as a key, it would be sent to the endpoint.
OWN_VARIABLES = ("BENCH_", "BENCHWARMERS_", "DJANGO_", "DATABASE_URL", "REDIS_URL")


def check_env_name(name: str) -> None:
    """Raise ValidationError for a variable that is the server's own."""
    if name.upper().startswith(OWN_VARIABLES):
        raise ValidationError("This variable is the bench's own: name the one that holds the provider's key.")


class Endpoint(TypedKey, RateLimits, Timeouts):
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
        validators=[env_name_rule, check_env_name],
        help_text="The environment variable that holds this provider's key, if one does.",
    )

    provider = models.CharField(
        max_length=80,
        blank=True,
        validators=[check_text],
        help_text="Its id in models.dev, such as groq; empty: by the base URL's host. Its limits count for the whole account.",
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
