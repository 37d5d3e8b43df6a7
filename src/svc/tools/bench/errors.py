"""The error of `svc bench`, in its own module so that the command line imports nothing native."""


class BenchError(Exception):
    """The measurement was impossible. The message gives the reason."""
