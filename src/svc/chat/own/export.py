"""Everything that the server keeps of a member, as one JSON object, written as it is read.

Each part is a list that its feature reads page by page; none is ever whole in memory.
"""

from collections.abc import AsyncIterator, Callable, Mapping

from svc.base.strict_json import dumps
from svc.chat.access.tokens import Asker

Part = Callable[[Asker], AsyncIterator[object]]

# So many bytes are written at once, unless one item is larger.
_CHUNK_BYTES = 64 * 1024


async def export(asker: Asker, parts: Mapping[str, Part], now_ms: int) -> AsyncIterator[bytes]:
    """The text in pieces, UTF-8: `{"exported_at_ms": …, "<part>": […], …}`."""
    buffer = bytearray(b'{"exported_at_ms":%d' % now_ms)
    for name, part in parts.items():
        buffer += b"," + dumps(name) + b":["
        comma = b""
        async for item in part(asker):
            buffer += comma + dumps(item)
            comma = b",\n"
            if len(buffer) >= _CHUNK_BYTES:
                yield bytes(buffer)
                buffer.clear()
        buffer += b"]"
    yield bytes(buffer + b"}\n")
