"""What a reader looks up: the gallery of failures, examples, checks, tokenizers, the format language."""
