"""`svc doctor`: what is wrong with an installation; `examination` looks at it from all sides."""
