"""Images -> rows that stand among the embeddings of tokens."""
