"""The window of models: find, download, keep."""
