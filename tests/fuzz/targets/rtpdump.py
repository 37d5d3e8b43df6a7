"""A file is either rejected with RtpdumpError or parsed as a capture that is written back unchanged."""

from io import BytesIO

from svc.tools.rtpdump import RtpdumpError, read, write

IN_PYTHON = True


def run(data: bytes) -> None:
    try:
        records = list(read(BytesIO(data)))
    except RtpdumpError:
        return
    copy = BytesIO()
    write(copy, records)
    copy.seek(0)
    assert list(read(copy)) == records
