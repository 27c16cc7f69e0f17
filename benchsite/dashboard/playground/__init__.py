"""The playground: a person asks a collection from the dashboard, sees each answer as it lands, and judges it in place."""
