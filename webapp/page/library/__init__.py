"""What a reader looks up: examples, checks, tokenizers, the format language."""
