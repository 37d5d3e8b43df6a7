"""The media worker: checks every upload and writes it out again, in its own process."""
