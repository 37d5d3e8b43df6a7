"""Authentication and authorisation: access tokens, permissions, and the origins that may use the API."""
