"""Adds the headers that every response has, and CORS headers for pages on other permitted sites.

Reads only a request's Origin header. See docs/security.md.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from aiohttp import web

from svc.base import logs
from svc.chat.access.origins import Origins
from svc.chat.tls import TlsFiles
from svc.chat.uploads.protocols import EXPOSED, REQUEST_HEADERS

REQUEST_ID = web.RequestKey("request_id", str)
# How long browsers must use https. The examples in RFC 6797 also use a year.
STRICT_TRANSPORT_S = 31_536_000
# The request headers that pages on other permitted sites may send.
_ALLOWED_HEADERS = ("Authorization", "Content-Type", *REQUEST_HEADERS)


def usual_headers(public_urls: Sequence[str]) -> Mapping[str, str]:
    """Return the headers of every response. Pages may connect to the server and to `public_urls`."""
    media = "".join(f" {url}" for url in public_urls)
    return {
        "Content-Security-Policy": (
            # Noise suppression needs WebAssembly. This does not allow pages to run strings as code.
            f"default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'{media}; "
            "img-src 'self' data: blob:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; "
            "form-action 'none'; "
            "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types service-worker sealing"
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }


def adding_headers(
    origins: Origins, public_urls: Sequence[str]
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Return a signal handler that adds the usual headers, and CORS headers for listed origins, to each
    response.
    """
    usual = usual_headers(public_urls)

    async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
        """Add the usual headers, and CORS headers if the request comes from a listed site."""
        for name, value in usual.items():
            response.headers.setdefault(name, value)
        # A request that is rejected before any middleware runs has no id yet.
        response.headers["X-Request-Id"] = request.get(REQUEST_ID) or logs.name_request()
        origin = request.headers.get("Origin")
        if origin is not None and origins.is_listed(origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Allow-Headers"] = ", ".join(_ALLOWED_HEADERS)
            response.headers["Access-Control-Expose-Headers"] = ", ".join(EXPOSED)
            response.headers["Access-Control-Allow-Methods"] = "GET, HEAD, POST, PUT, PATCH, DELETE"
            response.headers["Vary"] = "Origin"

    return add_headers


def strict_transport(files: TlsFiles) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Return a signal handler that makes browsers use https."""

    async def add_header(_: web.Request, response: web.StreamResponse) -> None:
        """Add HSTS unless the certificate is self-signed. With HSTS, users cannot dismiss the certificate
        warning.
        """
        if not files.self_signed:
            response.headers["Strict-Transport-Security"] = f"max-age={STRICT_TRANSPORT_S}"

    return add_header
