"""The description of this server for programs: OpenAPI for HTTP, AsyncAPI for the live socket."""
