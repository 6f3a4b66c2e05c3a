"""Two replays of one output, side by side, seen from one character."""
