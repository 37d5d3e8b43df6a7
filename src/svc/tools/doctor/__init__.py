"""`svc doctor`: finds faults in an installation. `examination` runs all checks."""
