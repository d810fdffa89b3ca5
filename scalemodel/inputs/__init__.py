"""What a prediction is asked with: tables and files of measurements and curves."""
