"""The media worker: checks every upload and writes it out again, in a process of its own."""
