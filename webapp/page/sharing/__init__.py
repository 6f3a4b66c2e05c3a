"""What a permalink shows elsewhere: in a frame, as a picture, and without what it says."""
