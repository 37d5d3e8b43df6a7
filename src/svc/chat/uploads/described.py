"""What uploads say of themselves, for people and for programs. How tus works is tus.io's to say."""

from svc.chat.described import (
    ID,
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    Schema,
    array,
    asked,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.uploads.upload import (
    ATTACHED_KINDS,
    ATTACHMENT,
    AVATAR,
    DONE,
    EMOJI,
    ICON,
    KINDS,
    MAX_ALT_CHARACTERS,
    MAX_NAME_CHARACTERS,
    RECEIVING,
    REFUSED,
    USED,
    WAITING,
)

_COUNT = nullable(integer(0))
_ALT = string(MAX_ALT_CHARACTERS)
_FILE: dict[str, Schema] = {
    "key": string(),
    "url": string(),
    "content_type": string(),
    "bytes": integer(0),
    "width": _COUNT,
    "height": _COUNT,
}
_RESULT: dict[str, Schema] = {
    "id": ID,
    "name": string(MAX_NAME_CHARACTERS + 16),
    "kind": choice(*ATTACHED_KINDS),
    **_FILE,
    "frames": _COUNT,
    "duration_ms": _COUNT,
    "placeholder": string(),
    "colour": string(),
    "thumbnail": nullable(obj(_FILE)),
    "poster": nullable(obj(_FILE)),
}
ATTACHED = Named("Attachment", obj({**_RESULT, "alt": _ALT}))
_REFUSAL = obj({"code": string(), "message": string()})
UPLOAD = Named(
    "Upload",
    obj(
        {
            "id": ID,
            "purpose": choice(ATTACHMENT, AVATAR, ICON, EMOJI),
            "name": string(MAX_NAME_CHARACTERS),
            "alt": _ALT,
            "length": integer(0),
            "received": integer(0),
            "state": choice(RECEIVING, WAITING, DONE, REFUSED, USED),
            "result": nullable(obj(_RESULT)),
            "refusal": nullable(_REFUSAL),
            "created_at_ms": TIME_MS,
        }
    ),
)
_JOB = obj(
    {
        "id": ID,
        "kind": choice(*KINDS),
        "attempt": integer(0),
        "state": choice("waiting", "working", "dead"),
        "worker": string(),
        "fault": string(),
        "due_at_ms": TIME_MS,
        "created_at_ms": TIME_MS,
    }
)
# What every upload needs, whatever it is for.
FILE = obj({"file": string(contentMediaType="application/octet-stream")})
BEGINNING = (
    *(
        "profanity_refused",
        "quota_exceeded",
        "storage_full",
        "too_many",
        "too_many_connections",
        "tus_version",
        "upload_cut_short",
        "upload_too_large",
    ),
    *("uploads_disabled", "wrong_content_type"),
)
_ONE = "/api/uploads/{upload_id}"


def _begin(route: str, summary: str, *more: str) -> Endpoint:
    return Endpoint(
        route,
        f"{summary}: multipart, or tus 1.0.0 with Tus-Resumable; what comes of it is pushed",
        UPLOAD,
        201,
        body=FILE,
        body_type="multipart/form-data",
        refusals=[*BEGINNING, *more],
    )


DESCRIBED = Described(
    endpoints=[
        _begin(
            "POST /api/channels/{channel_id}/uploads", "Upload what a message is to show", "unknown_channel"
        ),
        _begin("POST /api/me/avatar", "Upload a picture of oneself"),
        _begin("POST /api/icon", "Upload the server's icon"),
        Endpoint("DELETE /api/me/avatar", "Have no picture any more"),
        Endpoint("DELETE /api/icon", "Have the server show no icon any more"),
        Endpoint(
            "GET /api/uploads",
            "One's own uploads that hang on nothing yet, the newest first",
            obj({"uploads": array(UPLOAD)}),
        ),
        Endpoint(
            f"GET {_ONE}",
            "One's own upload; how far it has come stands in the headers too, as tus has it",
            UPLOAD,
            refusals=["unknown_upload"],
        ),
        Endpoint(
            f"PATCH {_ONE}",
            "Go on with an upload, as tus has it",
            body=string(contentMediaType="application/offset+octet-stream"),
            body_type="application/offset+octet-stream",
            refusals=[
                *("offset_mismatch", "quota_exceeded", "storage_full", "too_many_connections", "tus_version"),
                *("unknown_upload", "upload_busy", "upload_complete", "upload_cut_short", "upload_too_large"),
                "wrong_content_type",
            ],
        ),
        Endpoint(f"DELETE {_ONE}", "Let go of an upload", refusals=["unknown_upload", "upload_busy"]),
        Endpoint(
            f"PUT {_ONE}/alt",
            "Say in words what a file shows, also of one that is posted",
            UPLOAD,
            body=asked({"alt": _ALT}),
            refusals=["forbidden", "in_timeout", "profanity_refused", "unknown_channel", "unknown_upload"],
        ),
        Endpoint(
            "GET /api/jobs", "What the media worker has to do, and has given up", obj({"jobs": array(_JOB)})
        ),
        Endpoint(
            "POST /api/jobs/{job_id}/retry", "Have tried again what was given up", refusals=["unknown_job"]
        ),
    ],
    pushes=[
        Pushed(
            "upload_progress",
            "How far the media worker has come with an upload, from 0 to 1",
            obj(
                {
                    "upload_id": ID,
                    "state": choice(WAITING, "working"),
                    "progress": {"type": "number", "minimum": 0, "maximum": 1},
                }
            ),
            to="who has uploaded it",
            kept=False,
        ),
        Pushed(
            "upload_done",
            "An upload is checked, and written again if it is a picture or a video",
            UPLOAD,
            to="who has uploaded it",
        ),
        Pushed(
            "upload_refused",
            "An upload is refused; `code` says why",
            obj({"upload_id": ID, "code": string(), "message": string()}),
            to="who has uploaded it",
        ),
        Pushed(
            "icon_changed",
            "The server has another icon, or none",
            obj({"icon_url": nullable(string())}),
            to="everybody",
        ),
    ],
)
