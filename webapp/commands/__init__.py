"""The commands, one module each; `webapp.cli` imports the one that is called."""
