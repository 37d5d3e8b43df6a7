"""Defines the error that `svc bench` reports. It has its own module, so that the command line need not import
native code.
"""


class BenchError(Exception):
    """Raised if a measurement is impossible. The message gives the reason."""
