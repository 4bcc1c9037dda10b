"""The double click."""
