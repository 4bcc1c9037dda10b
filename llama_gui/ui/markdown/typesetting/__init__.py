"""Formulas laid out as in a book, by the rules of TeX; drawn as outlines, never as images."""
