"""Checks the encryption invariant: no (SSRC, packet index) is ever used to encrypt different bytes.

A violation would reveal AES-GCM's authentication key (RFC 7714 section 8.1; docs/security.md). All datagrams
are recorded as they leave the engine, before any link can lose them.
"""

from collections import defaultdict

from tests.kit.packets import is_rtcp


class EncryptionInvariant:
    """A check of all datagrams to one participant under one key. It supports only AES-GCM."""

    def __init__(self) -> None:
        self.media: defaultdict[int, dict[int, int]] = defaultdict(dict)  # hashes, by SSRC and index
        self.bytes_sent: defaultdict[int, int] = defaultdict(int)  # by SSRC
        self._highest: dict[int, int] = {}
        self._control: set[bytes] = set()

    def check(self, datagram: bytes) -> None:
        """Record one datagram. Raises AssertionError if it breaks the invariant."""
        if is_rtcp(datagram):
            # The SSRC, and the index at the end (RFC 7714 section 9.3).
            key = datagram[4:8] + datagram[-4:]
            assert key not in self._control, "an SRTCP index was used twice"
            self._control.add(key)
            return
        ssrc = int.from_bytes(datagram[8:12], "big")
        sequence = int.from_bytes(datagram[2:4], "big")
        highest = self._highest.get(ssrc, sequence)
        index = highest + ((sequence - highest + 0x8000) & 0xFFFF) - 0x8000
        self._highest[ssrc] = max(highest, index)
        self.bytes_sent[ssrc] += len(datagram)
        known = self.media[ssrc].setdefault(index, hash(datagram))
        assert known == hash(datagram), f"index {index} of SSRC {ssrc} was encrypted with different bytes"

    def numbers_left_out(self, ssrc: int) -> int:
        """Count the unused sequence numbers between the first and the last."""
        numbers = self.media[ssrc]
        return max(numbers) - min(numbers) + 1 - len(numbers) if numbers else 0
