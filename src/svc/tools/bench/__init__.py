"""`svc bench`: load a service with real clients and measure its cost."""
