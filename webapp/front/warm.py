"""What every child would do first, done once: the server that forks them imports this module.

Formats are read and compiled, templates compiled, a page and an answer made; a fork has all of it from the start.
Nothing may stay open and no thread may run when this is over, and whatever goes wrong here is not missed.
"""

from __future__ import annotations

import gc
import tempfile
from contextlib import suppress
from pathlib import Path

from webapp.app import create_app
from webapp.page.library.examples import examples
from webapp.services import EXTENSION
from webapp.settings import Settings


def warm_up() -> None:
    """Answer what is asked for most, for nobody."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=Path(folder), database_url="sqlite://", formats=None))
        client = app.test_client()
        client.get("/")
        name = next(iter(examples()))
        for page in ("", "/compare", "/share"):
            client.get(f"/example/{name}{page}")
        client.post("/run", data={"text": examples()[name].case.text(), "parser": "auto"})
        client.post("/api/v1/replay", data=client.get(f"/example/{name}.json").data, content_type="application/json")
        client.get("/formats/edit")
        app.extensions[EXTENSION].store.close()


with suppress(Exception):
    warm_up()
gc.collect()
gc.freeze()
