"""The search: an output under every chunking and in changed forms, until the smallest failing case is left."""
