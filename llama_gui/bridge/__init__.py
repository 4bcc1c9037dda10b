"""The thin Qt layer: everything that crosses threads does so here. QtCore only, no widgets."""
