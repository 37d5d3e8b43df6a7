"""How many descriptors this process may have open: sockets and files together.

Systems give a process 1,024 unless it asks for more; it may ask up to a hard limit. Children
inherit what was asked for. Elsewhere than on Unix there is no such limit.
"""

import sys

# More than any of our programs uses; some systems slow down with millions.
ENOUGH = 65_536

if sys.platform != "win32":
    import resource

    def raise_limit() -> int:
        """Ask for as many as are allowed, up to ENOUGH; how many there are."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            except (OSError, ValueError):
                # macOS allows fewer than it says. What there is has to do.
                return soft
        return limit()

    def limit() -> int:
        """How many there are."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return ENOUGH if soft == resource.RLIM_INFINITY else min(soft, ENOUGH)

else:

    def raise_limit() -> int:
        """Nothing to ask for."""
        return ENOUGH

    def limit() -> int:
        """As good as without one."""
        return ENOUGH
