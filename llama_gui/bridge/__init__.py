"""Thin Qt: who crosses a thread, does it here. QtCore only, no widgets."""
