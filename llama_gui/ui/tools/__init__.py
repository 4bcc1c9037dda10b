"""Tools of other programs, as the window shows them."""
