"""Screens: one module a screen; the views are registered in `tui.app.views`."""
