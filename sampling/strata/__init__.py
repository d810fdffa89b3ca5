"""Strata: how many launches each needs, what they promise, and the draw."""
