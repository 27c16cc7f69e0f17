"""The same request sent again: by which names its panel is found, however many processes it may be sent to."""

from evidence.again.names import (
    AlreadyAsked,
    KnownAs,
    Question,
    forget_questions,
    name_panel,
    running_panel_asked,
    take_first_try,
)

__all__ = [
    "AlreadyAsked",
    "KnownAs",
    "Question",
    "forget_questions",
    "name_panel",
    "running_panel_asked",
    "take_first_try",
]
