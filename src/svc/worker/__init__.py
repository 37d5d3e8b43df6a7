"""The media worker: checks and rewrites every upload in a separate process."""
