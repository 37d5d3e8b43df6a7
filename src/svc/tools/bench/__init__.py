"""`svc bench`: put a service under load with real clients, and measure its cost."""
