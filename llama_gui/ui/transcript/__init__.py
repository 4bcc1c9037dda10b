"""A chat on the screen: Markdown that is written as it arrives, in one text document for each tab."""
