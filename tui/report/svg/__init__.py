"""The charts of a report as SVG, drawn from their numbers."""
