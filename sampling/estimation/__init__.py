"""From simulated launches back to totals: estimates, their intervals, and what to simulate next."""
