"""The owner's settings: values, rules, endpoints and the local advertisement."""
