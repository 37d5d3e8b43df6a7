"""The chat server's tables have a column for every field of the server's records."""

import pkgutil
from contextlib import closing
from importlib import import_module
from pathlib import Path

import svc.chat
from svc.base.database import Database, connect
from svc.base.migrations import migrations_in
from svc.base.tables import Table
from svc.chat.community import SCHEMA_FOLDER


async def test_every_record_matches_its_table(tmp_path: Path) -> None:
    await (await Database.open(tmp_path / "chat", migrations_in(SCHEMA_FOLDER), tmp_path)).close()
    modules = pkgutil.walk_packages(svc.chat.__path__, "svc.chat.")
    stores = [import_module(module.name) for module in modules if module.name.endswith("store")]
    tables = [thing for store in stores for thing in vars(store).values() if isinstance(thing, Table)]
    assert tables
    with closing(connect(tmp_path / "chat")) as connection:
        for table in tables:
            connection.execute(f"SELECT {table.select()} FROM {table.name}")
