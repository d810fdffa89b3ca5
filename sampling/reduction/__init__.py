"""What a plan is made from: the region that is kept, its kernel groups, their durations and counts."""
