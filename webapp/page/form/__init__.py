"""The setup form: what a person typed, what was recognised of it, and what can be chosen."""
