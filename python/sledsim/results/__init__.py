"""What comes back: rows, summaries, cautions, causes, and numbers as text."""
