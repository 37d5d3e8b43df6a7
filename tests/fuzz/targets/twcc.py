"""Input is either rejected or parsed as transport-wide feedback that can be rewritten."""

from svc._rtp.twcc import Log, parse_feedback

IN_PYTHON = False
# Deltas can lead to negative times, which the core's clock never has.
LATER_S = 20_000


def run(body: bytes) -> None:
    parsed = parse_feedback(body)
    if parsed is None:
        return
    log = Log()
    arrivals = {number: at + LATER_S for number, at in parsed if at is not None}
    for number, at in arrivals.items():
        log.record(number, at)
    while feedback := log.write():
        again = parse_feedback(feedback[4:])
        assert again, "we cannot read our own report"
        assert all(number in arrivals for number, at in again if at is not None)
