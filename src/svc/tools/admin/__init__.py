"""`svc admin`: manage a running or stopped server. Each subject has a module."""
