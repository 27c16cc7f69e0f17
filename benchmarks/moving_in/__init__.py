"""What moving in from the predecessor costs; a folder of its own, since it measures no panel."""
