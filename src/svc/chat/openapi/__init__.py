"""Machine-readable API descriptions: OpenAPI for HTTP, AsyncAPI for the live socket."""
