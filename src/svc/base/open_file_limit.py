"""Raises the limit on the file descriptors, including sockets, that this process can have open.

Systems allow a process 1,024 descriptors unless it requests more, up to a hard limit. Children inherit the
new limit. Only Unix has this limit.
"""

import sys

# More descriptors than any of our programs uses. Some systems slow down with a limit in the millions.
ENOUGH = 65_536

if sys.platform != "win32":
    import resource

    def raise_limit() -> int:
        """Raise the limit as far as allowed, up to ENOUGH. Return the limit."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            except (OSError, ValueError):
                # macOS allows fewer descriptors than it reports. Keep the current limit.
                return soft
        return limit()

    def limit() -> int:
        """Return the limit."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return ENOUGH if soft == resource.RLIM_INFINITY else min(soft, ENOUGH)

else:

    def raise_limit() -> int:
        """Return ENOUGH, because there is no limit to raise."""
        return ENOUGH

    def limit() -> int:
        """Return ENOUGH, because there is no limit."""
        return ENOUGH
