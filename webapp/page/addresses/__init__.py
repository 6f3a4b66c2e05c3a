"""The addresses of the pages: views read the request, call pure functions, and choose what is sent back."""
