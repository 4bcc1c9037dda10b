"""What was said: the conversation tree, and the store that keeps it. No Qt, no torch."""
