"""What the dashboard's pages cost on a large bench; a folder of its own, since it measures no panel."""
