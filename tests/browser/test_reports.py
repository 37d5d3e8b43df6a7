"""RTCP reports between two browsers on the same machine show no delay, no loss and a common clock.

Senders use the reports to measure their connection, and receivers use them to keep audio and video in sync.
See RFC 3550 section 6.4.
"""

from tests.kit.browser_users import People
from tests.kit.wait import wait_until

# Chromium sends audio reports every five seconds on average, give or take half of that, and two reports are
# needed.
WITHIN_S = 18
# The round-trip time is longer on a busy machine. A miscalculated time would be off by hours or missing.
LOOPBACK_S = 1.0
# People notice audio that is 45 ms early or 125 ms late (ITU-R BT.1359). The browser synchronises them only
# gradually, so the limit is wider. A clock conversion error would be off by seconds.
IN_STEP_MS = 250
SAME_CLOCK_MS = 500


async def test_senders_know_their_round_trip_time_and_loss_and_receivers_play_in_sync(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join(camera=False)
    await grace.sees(ada)
    await grace.hears(ada)

    async def reported() -> bool:
        sent = (await ada.statistics()).sent
        return len(sent) == 2 and all(
            0 < (track.round_trip_s or 0) < LOOPBACK_S and track.fraction_lost == 0 for track in sent
        )

    async def timed() -> bool:
        return all(track.playout_ms for track in (await grace.statistics()).received)

    async def in_step() -> bool:
        now = await grace.statistics()
        voice, face = now.track("Ada", "mic"), now.track("Ada")
        return abs(voice.playout_ms - face.playout_ms) < IN_STEP_MS and all(
            track.clock_lag_ms is not None and abs(track.clock_lag_ms) < SAME_CLOCK_MS
            for track in (voice, face)
        )

    await wait_until("Ada's report has the round-trip times of audio and video", reported, within_s=WITHIN_S)
    await wait_until("Grace's report has capture times", timed, within_s=WITHIN_S)
    await wait_until("Grace's audio and video are synchronised", in_step, within_s=WITHIN_S)
