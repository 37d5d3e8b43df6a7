"""`svc admin`: manage a server, running or stopped. Each subject has a module."""
