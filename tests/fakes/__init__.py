"""Stand-ins that are true to the face of what they stand for."""
