"""`svc admin`: manage a running or stopped server. Each subject has its own module."""
