"""A study: programs on configurations of a simulator, as a file, and what their results come to."""
