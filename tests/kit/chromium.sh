#!/bin/sh
# Starts the program in $CHROMIUM without the right to real-time priority. As root, Chromium takes real-time
# priority for its audio threads and sometimes for all of its threads, and then two threads that wait for a
# third one can occupy every processor for minutes. $INSIDE is an optional command prefix that runs the
# program elsewhere.
if [ "$(id -u)" = 0 ] && setpriv --bounding-set=-sys_nice true 2>/dev/null; then
    exec $INSIDE setpriv --bounding-set=-sys_nice "$CHROMIUM" "$@"
fi
exec $INSIDE "$CHROMIUM" "$@"
