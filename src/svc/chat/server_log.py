"""What the HTTP server logs of requests that it could not read: nothing.

A stranger's mistake is answered, and is no business of the operator's. Least of all with the line
that could not be read, for the URL of a webhook holds a secret. Faults of ours pass.
"""

import logging

from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.log import server_logger
from aiohttp.web import RequestPayloadError


class _OnlyOurFaults(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        fault = record.exc_info[1] if record.exc_info else None
        return not isinstance(fault, HttpProcessingError | RequestPayloadError)


_ONLY_OUR_FAULTS = _OnlyOurFaults()


def keep_to_our_faults() -> None:
    """For the whole process; a second time changes nothing."""
    server_logger.addFilter(_ONLY_OUR_FAULTS)
