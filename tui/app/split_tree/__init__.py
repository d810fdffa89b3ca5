"""View 2: the split tree, decision by decision."""
