"""`svc doctor`: find faults in an installation. `examination` runs all checks."""
