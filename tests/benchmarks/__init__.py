"""Measurements, never tests: ours beside transformers, in one run."""
