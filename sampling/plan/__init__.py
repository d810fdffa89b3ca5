"""A plan: designed, drawn, judged, compared, written and read."""
