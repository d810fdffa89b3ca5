"""What each command answers, as rows and text, without a screen."""
