"""What the operator may ask of the running server, without a page."""
