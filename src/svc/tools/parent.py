"""Ending with the process that started this one, on any system.

The parent holds the other end of our standard input and never writes to it; when it is
gone, however it went, the system closes that end. Knows nothing of what runs here.
"""

import os
import signal
import threading
import time

# How long this process may take to end in good order before it is ended without.
GRACE_S = 10.0


def end_with_parent() -> None:
    """Watch standard input in the background; its end is our SIGTERM."""
    threading.Thread(target=_watch, name="parent", daemon=True).start()


def _watch() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(1)
