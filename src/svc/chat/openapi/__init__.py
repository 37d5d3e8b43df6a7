"""Generates machine-readable API descriptions: OpenAPI for HTTP, and AsyncAPI for the live socket."""
