from django.db import migrations

SHAPES = {
    "general": (
        ["general"],
        "Anything that fits no other shape: open questions, explanations, advice, comparisons, facts, a second opinion on a decision.",
    ),
    "design": (
        ["general"],
        "Deciding how something should be before it is made: architecture, data models, interfaces, plans, and weighing alternatives "
        "with their trade-offs.",
    ),
    "prose": (
        ["general", "light"],
        "Writing or rewriting text for people to read: letters, documentation, stories, summaries, translation, tone and style.",
    ),
    "review": (
        ["general", "code"],
        "Finding what is wrong with something that exists: a change, code, a document, an argument. The answer is a list of faults "
        "and risks, each one true or false.",
    ),
    "code": (
        ["general", "code"],
        "Writing, changing or repairing code, queries, configuration or scripts. The answer is code that has to run.",
    ),
    "enumeration": (
        ["general", "code", "light"],
        "Listing as many different items as possible: test cases, edge cases, causes, names, ideas. Coverage counts more than depth.",
    ),
    "quick": (
        ["general", "light"],
        "A short question with a short answer: one fact, one conversion, one definition, one line, yes or no.",
    ),
    "vision": (
        ["general", "light", "vision"],
        "The request holds images: describing, reading, comparing or judging what they show.",
    ),
}


def add_shapes_and_limits(apps, schema_editor):
    Shape = apps.get_model("collections_app", "Shape")
    Limits = apps.get_model("collections_app", "Limits")
    for name, (roles, description) in SHAPES.items():
        Shape.objects.get_or_create(name=name, defaults={"roles": roles, "description": description})
    Limits.objects.get_or_create(id=1)


class Migration(migrations.Migration):
    dependencies = [("collections_app", "0001_initial")]

    operations = [migrations.RunPython(add_shapes_and_limits, migrations.RunPython.noop)]
