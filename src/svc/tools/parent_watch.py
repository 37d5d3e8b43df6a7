"""Ends this process when its parent ends, on any system.

The parent holds the other end of our standard input and never writes to it. The system closes that end
however the parent ends.
"""

import os
import signal
import threading
import time

# Time for an orderly end before this process is forced to exit.
GRACE_S = 10.0


def end_with_parent() -> None:
    """Watch standard input in the background. Its end sends us SIGTERM."""
    threading.Thread(target=_watch, name="parent", daemon=True).start()


def _watch() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(1)
