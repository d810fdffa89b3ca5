"""What ctrl+p finds, from any view."""
