"""A plan simulated until its total is known well enough."""
