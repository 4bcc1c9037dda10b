"""Two chats side by side."""
