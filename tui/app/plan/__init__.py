"""View 3: the plan and its options."""
