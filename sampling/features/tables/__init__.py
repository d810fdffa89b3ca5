"""Tables of features, whatever file they come from: cells, keys and columns."""
