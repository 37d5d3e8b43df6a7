"""`svc admin`: the operator's way to a server, whether it runs or not; a subject, a file."""
