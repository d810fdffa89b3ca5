"""The scale model: from options or a question to predictions, and what is said of them."""
