"""Where a profile breaks an assumption of the methods: how much, why it matters, what to do."""
