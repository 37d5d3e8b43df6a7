"""`svc bench`: load from real clients, and what it costs the service that serves them."""
