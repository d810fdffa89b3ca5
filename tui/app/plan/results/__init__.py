"""What a simulator measured of the plan, opened from view 3."""
