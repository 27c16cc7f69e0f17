"""The values as rows: new ones written, those that stand here kept. Reads no file."""
