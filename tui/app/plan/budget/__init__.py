"""View 3: the plan that fits a time of simulation."""
