"""One replay, seen from one step: a module for each pane, and the page that they make."""
