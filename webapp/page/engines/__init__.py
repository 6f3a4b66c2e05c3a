"""The pages of entered engines: what there is, and the library of cases run through their parsers."""
