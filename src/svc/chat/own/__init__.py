"""What members decide about themselves: leaving, taking their data along or away, whom they block."""
