"""The one error of `svc bench`; apart, so that the command line knows it without loading anything native."""


class BenchError(Exception):
    """Nothing could be measured; the message says why."""
