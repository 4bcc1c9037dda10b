"""The models a person can have: those on disk (`shelf`) and those we offer (`catalog`). No torch, no Qt."""
