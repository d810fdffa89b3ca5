"""What all views share: panes, pages, the lines at the top and bottom."""
