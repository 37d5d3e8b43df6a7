"""The operator lists the media worker's jobs and retries those that failed."""

from collections.abc import AsyncIterator

import pytest

from svc.base.database import Connection
from svc.chat.community import Community
from tests.chat.internal_server import server_with_insight
from tests.tools.admin.conftest import Admin

JOB = "01890000-0000-7000-8000-000000000009"


@pytest.fixture
async def community(variables: dict[str, str]) -> AsyncIterator[Community]:
    async with server_with_insight({**variables, "STORAGE_BACKEND": "filesystem"}) as (_, made):
        yield made


async def test_jobs_can_be_listed_and_failed_jobs_retried(community: Community, admin: Admin) -> None:
    def given_up(connection: Connection) -> None:
        connection.execute(
            "INSERT INTO uploads (id, member_id, purpose, name, target, alt, resumable, length, received,"
            " state, created_at_ms, changed_at_ms)"
            " VALUES (?, 'm', 'attachment', 'a', '', '', 1, 1, 1, 'waiting', 1, 1)",
            (JOB,),
        )
        connection.execute(
            "INSERT INTO jobs (id, kind, attempt, due_at_ms, dead, fault, created_at_ms)"
            " VALUES (?, 'picture', 5, 1, 1, 'the disk is full', 1)",
            (JOB,),
        )

    await community.media._database.write(given_up)
    (job,) = (await admin.json("job", "list"))["jobs"]
    assert (job["id"], job["state"], job["attempt"]) == (JOB, "dead", 5)
    assert (await admin("job", "list"))[1] == f"{JOB}  picture  dead, attempt 5  the disk is full\n"
    assert await admin.json("job", "retry", JOB) == {}
    assert (await admin.json("job", "list"))["jobs"][0]["state"] == "waiting"
    assert (await admin("job", "retry", JOB))[0] == 2
