"""Uploads files as a client and processes them as the media worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from aiohttp import FormData

from svc.base.control_socket import ask
from svc.base.object_store_config import read
from svc.chat.community import Community
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.members_by_role import MembersByRole

# Data that starts like an image. No test decodes it.
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
GENERAL = "/api/channels/general/uploads"
ALL_KINDS = ["picture", "video", "file", "avatar", "icon", "emoji"]
TUS = {"Tus-Resumable": "1.0.0"}


@dataclass
class UploadServer:
    chat: ChatServer
    community: Community
    members: MembersByRole
    variables: Mapping[str, str]

    @property
    def data_dir(self) -> Path:
        return Path(self.variables["DATA_DIR"])

    # The client's side

    async def send(
        self, person: HttpMember, path: str = GENERAL, content: bytes = PNG, name: str = "cat.png"
    ) -> tuple[int, Any]:
        """Upload in one request. Return the status and body of the response."""
        form = FormData(quote_fields=False)
        form.add_field("file", content, filename=name, content_type="application/octet-stream")
        headers = {"Authorization": f"Bearer {person.token}"}
        async with self.chat.http.post(path, data=form, headers=headers) as response:
            return response.status, await response.json()

    async def sent(self, person: HttpMember, path: str = GENERAL, content: bytes = PNG) -> str:
        """Upload a file, which must be accepted. Return the upload's id."""
        status, answer = await self.send(person, path, content)
        assert status == 201, answer
        return str(answer["id"])

    async def begin(
        self, person: HttpMember, length: int, path: str = GENERAL, **headers: str
    ) -> tuple[int, str, Any]:
        """Start an upload with tus. Return the status, the location, and the body of an error response or
        None.
        """
        request_headers = {
            **TUS,
            "Upload-Length": str(length),
            "Authorization": f"Bearer {person.token}",
            **headers,
        }
        async with self.chat.http.post(path, headers=request_headers) as response:
            where = response.headers.get("Location", "")
            return response.status, where, await response.json() if response.status >= 400 else None

    async def append(self, person: HttpMember, where: str, offset: int, content: bytes) -> tuple[int, str]:
        """Append to an upload. Return the status and either the new offset or the error code."""
        headers = {**TUS, "Upload-Offset": str(offset), "Authorization": f"Bearer {person.token}"}
        headers["Content-Type"] = "application/offset+octet-stream"
        async with self.chat.http.patch(where, data=BytesIO(content), headers=headers) as response:
            if response.status >= 400:
                return response.status, str((await response.json())["error"])
            return response.status, response.headers["Upload-Offset"]

    async def done(self, person: HttpMember, path: str = GENERAL, content: bytes = PNG) -> str:
        """Upload a file and process it as the worker. Return the upload's id."""
        upload_id = await self.sent(person, path, content)
        await self.work(written=b"written anew")
        return upload_id

    # The worker's side

    async def command(self, command: str, **arguments: object) -> dict[str, Any]:
        """Send a command to the control socket. Return its result, or the error code under `error`."""
        answered = await ask(self.data_dir, command, arguments)
        result = answered.get("result", answered)
        assert isinstance(result, dict)
        return result

    async def claim(self, worker: str = "one", kinds: list[str] = ALL_KINDS) -> dict[str, Any] | None:
        job: dict[str, Any] | None = (await self.command("job_claim", worker=worker, kinds=kinds))["job"]
        return job

    async def store(self, job: Mapping[str, Any], content: bytes, ext: str = "webp") -> str:
        """Reserve a key and store an object under it. Return the key."""
        reserved = await self.command("job_reserve", job=job["id"], lease=job["lease"], ext=ext)
        key = str(reserved["key"])
        await read(self.variables).open_store(self.data_dir).put(key, content, "image/webp")
        return key

    async def work(
        self, written: bytes = b"written anew", content_type: str = "image/webp", frames: int = 1
    ) -> str:
        """Finish the next job without decoding its file. Return the upload's id."""
        finished = await self.written(written, content_type, frames)
        answered = await self.command("job_finish", **finished)
        assert answered == {}, answered
        return str(finished["job"])

    async def written(
        self, written: bytes = b"written anew", content_type: str = "image/webp", frames: int = 1
    ) -> dict[str, object]:
        """Store the results of the next job without finishing it. Return the arguments for `job_finish`."""
        job = await self.claim()
        assert job is not None, "there is no job"
        results = [
            result("original", await self.store(job, written), written, content_type, frames),
            result("thumbnail", await self.store(job, b"small"), b"small", "image/webp", 1),
        ]
        return {"job": job["id"], "lease": job["lease"], "results": results}


def result(role: str, key: str, content: bytes, content_type: str, frames: int) -> dict[str, object]:
    return {
        "role": role,
        "key": key,
        "content_type": content_type,
        "bytes": len(content),
        "width": 320,
        "height": 200,
        "frames": frames,
        "duration_ms": None,
        "placeholder": "LEHV6nWB2yk8",
        "colour": "#a0b0c0",
    }
