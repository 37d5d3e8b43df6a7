"""Terminates this process when its parent exits, on any system.

The parent keeps the other end of our standard input open and never writes to it. When the parent exits for
any reason, the kernel closes that end.
"""

import os
import signal
import threading
import time

# The time allowed for a clean shutdown before this process is forced to exit.
GRACE_S = 10.0


def end_with_parent() -> None:
    """Watch standard input in the background. When it closes, send SIGTERM to this process."""
    threading.Thread(target=_watch, name="parent", daemon=True).start()


def _watch() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(1)
