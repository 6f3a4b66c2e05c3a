"""A project of somebody else, with a parser of its own."""
