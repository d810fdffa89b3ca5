"""What each command says, as rows and words: the headless twin of each view."""
