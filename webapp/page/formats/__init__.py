"""The format editor: what was typed, and the report on it."""
