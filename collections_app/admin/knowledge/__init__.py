"""What is known and how models do: a model's values by source, alerts, catalog sources, what is left of limits."""
