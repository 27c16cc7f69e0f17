"""What a long call log costs: asking, forgetting, and the pages, with a thousand calls and with a million."""
