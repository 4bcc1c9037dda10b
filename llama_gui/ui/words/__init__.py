"""The words of an answer: how sure the model was of each, and what else it might have written."""
