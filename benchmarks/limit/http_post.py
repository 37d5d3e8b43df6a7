"""Does the minimum that a durable HTTP POST requires: aiohttp's server, JSON parsing, and the store's own
INSERT.

    python -m benchmarks.limit.http_post FOLDER

The database and the table are those of the chat server. The program has no middleware, webhooks, rules,
events or search. Prints its address and exits when standard input is closed.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from secrets import randbits

from aiohttp import web

from svc.base.database import Database
from svc.base.ids import Ids
from svc.base.migrations import migrations_in
from svc.base.strict_json import dumps
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.messages import store
from svc.chat.messages.message import WEBHOOK, Author, Message, number_of
from svc.tools.parent_watch import end_with_parent


async def serve(folder: Path) -> None:
    database = await Database.open(folder / "limit.sqlite3", migrations_in(SCHEMA_FOLDER), folder / "backups")
    new_id = Ids(time.time, randbits).new

    async def post(request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        message_id = new_id()
        author = Author(WEBHOOK, "hook", "Hook")
        message = Message(
            number_of(message_id), message_id, "general", author, body["text"], cards=body["cards"]
        )
        await database.write(lambda connection: store.insert(connection, message))
        answer = {"message_id": message_id, "conversation_id": "general", "warnings": []}
        return web.Response(body=dumps(answer), content_type="application/json")

    application = web.Application()
    application.router.add_post("/api/webhooks/{webhook_id}/{token}", post)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    end_with_parent()
    asyncio.run(serve(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
