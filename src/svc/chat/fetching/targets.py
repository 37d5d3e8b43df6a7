"""The addresses that strangers write, judged before anything is looked up or connected to.

Pure: text in, a URL that may be tried or a refusal out. What a name stands for is not known
here; `connecting` judges that. The URL that was judged is the object that is asked for, so that no
second parser can read it otherwise.
"""

import re

from yarl import URL

from svc.chat.fetching.addresses import is_public

MAX_REDIRECTS = 5
# Web servers listen there or, run by hand, above the ports of the system's services. A mail server
# has nothing to say to us.
SYSTEM_PORTS = range(1024)
WEB_PORTS = (80, 443)

# Names that mean something nearby by definition (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`).
# They are not looked up, so that nobody learns which of them there are.
_LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa")

# What IDNA leaves of any name, and underscores, which real hosts have.
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
# What the URL standard of the WHATWG takes for an IPv4 address, in any spelling that a library of C knows.
_ENDS_IN_A_NUMBER = re.compile(r"(^|\.)([0-9]+|0x[0-9a-f]*)$")


class NotFetched(Exception):
    """Why there is no file: `code` as docs/webhooks.md, "Pictures" names it, `message` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def target(address: str) -> URL:
    """What to ask for; raises NotFetched. Names and passwords in it are not for us to hand on."""
    try:
        return _judged(URL(address))
    except ValueError:
        raise NotFetched("blocked", "This is no address of a host on the internet") from None


def redirected(asked: URL, location: str) -> URL:
    """The same for where an answer points. What is relative goes on from `asked`."""
    try:
        return _judged(asked.join(URL(location)))
    except ValueError:
        raise NotFetched("blocked", "It redirects to what is no address of a host on the internet") from None


def _judged(url: URL) -> URL:
    if url.scheme not in ("http", "https"):
        raise NotFetched("blocked", "Only http and https addresses are fetched")
    if url.port in SYSTEM_PORTS and url.port not in WEB_PORTS:
        raise NotFetched("blocked", f"Port {url.port} is not one of a web server")
    _judge_host((url.raw_host or "").removesuffix("."))
    return url.with_user(None).with_fragment(None)


def _judge_host(host: str) -> None:
    if ":" in host or _ENDS_IN_A_NUMBER.search(host):
        # Only the usual spelling is an IP address to us; any other is there to deceive.
        if not is_public(host):
            raise NotFetched("blocked", "Private and local addresses are not fetched")
    elif not _NAME.fullmatch(host):
        raise NotFetched("blocked", "This is no address of a host on the internet")
    elif any(f".{host}".endswith(f".{name}") for name in _LOCAL_NAMES):
        raise NotFetched("blocked", "Private and local addresses are not fetched")
