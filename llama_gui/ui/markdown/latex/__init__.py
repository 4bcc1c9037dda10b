"""Formulas in LaTeX: read into a tree, and the tree written as Unicode; pure."""
