"""What a kernel group is called in a list: short, and told apart from the others there."""
