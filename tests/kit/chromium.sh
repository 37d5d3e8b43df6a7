#!/bin/sh
# Starts the program that CHROMIUM names without the right to real-time priority. As root it takes that for
# its audio threads, now and then for all of itself, and then two of its threads that wait for a third leave no
# processor to it for minutes. INSIDE names a command that runs it somewhere else.
if [ "$(id -u)" = 0 ] && setpriv --bounding-set=-sys_nice true 2>/dev/null; then
    exec $INSIDE setpriv --bounding-set=-sys_nice "$CHROMIUM" "$@"
fi
exec $INSIDE "$CHROMIUM" "$@"
