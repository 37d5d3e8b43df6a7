"""`svc doctor`: find faults of an installation. `examination` runs all checks."""
