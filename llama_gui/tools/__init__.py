"""Servers of tools, in the Model Context Protocol: kept, started, listed and called. No Qt, no torch."""
