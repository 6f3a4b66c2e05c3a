"""Long work of the application, each piece in a child that is watched and can be stopped: searches for a failing
chunking."""
