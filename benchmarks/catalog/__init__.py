"""What a refresh of the catalog costs; a folder of its own, since it measures no panel."""
