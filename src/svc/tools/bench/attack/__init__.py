"""`svc bench attack`: attacks on an instance, and what its honest members notice of them."""
