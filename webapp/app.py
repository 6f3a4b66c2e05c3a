"""The application factory: settings in, a Flask application out. Everything it needs is built here and nowhere else.

Views find their parts through `webapp.services`. Templates and static files stand at the top of a checkout and
inside the package once installed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any

from flask import Flask, Response, current_app, request, url_for
from jinja2 import BytecodeCache, StrictUndefined
from jinja2.bccache import Bucket

from parsers.cases.jsontext import utf8
from webapp import api, banned, compression, quotas, storage_trouble, stylesheets, write_access
from webapp.engines.entered import use_engines
from webapp.formats.folder import formats_folder, refusals
from webapp.glyphs import FILTERS, seen
from webapp.jobs.searches import Ask, Searches
from webapp.mounting import mounted
from webapp.page.addresses import blueprint
from webapp.page.addresses.subjects import error_page
from webapp.page.sharing.preview_picture import forget_picture
from webapp.runs.held import HeldRuns
from webapp.runs.runner import Runner
from webapp.security import init_app
from webapp.services import EXTENSION, Services
from webapp.settings import PATIENCE, Settings, get_settings
from webapp.store import open_store
from webapp.stylesheets import YEAR
from webapp.tokenizers.hub import Downloads
from webapp.tokenizers.library import TokenizerLibrary, use
from webapp.tokenizers.shared import SharedTokenizers

PACKAGE = Path(__file__).resolve().parent
_SENT_SECONDS = 10  # beside work and waiting
SEARCHES, TOKENIZERS, ENGINES, RUNS = "searches", "tokenizers", "engines", "runs"  # whom another process is asked for


class _CompiledTemplates(BytecodeCache):
    """Templates of this process, compiled once for all applications of it, and for those of its forks."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template what it was compiled to, as long as its source is the same."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what a template was compiled to."""
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


_compiled = _CompiledTemplates()


class _Answer(Response):
    """An answer that somebody's parser may have put half of a surrogate pair in."""

    def set_data(self, value: bytes | str) -> None:
        """Give it another body."""
        super().set_data(utf8(value) if isinstance(value, str) else value)


class _Inspector(Flask):
    """Flask with static files that may be kept for ever when their address has a hash."""

    response_class = _Answer

    def get_send_file_max_age(self, filename: str | None) -> int | None:
        """Seconds a static file may be kept; None: ask every time."""
        return YEAR if request.args.get("v") else None


def create_app(settings: Settings | None = None, ask: Ask | None = None) -> Flask:
    """The application. Raises UsageError for settings that cannot work.

    `ask` asks the process that has the searches and the tokenizers of this server, where that is not this one.
    """
    settings = settings or get_settings()
    app = _Inspector(__name__, template_folder=str(_assets("templates")), static_folder=str(_assets("static")))
    app.jinja_env.bytecode_cache = _compiled
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.filters.update(FILTERS)
    app.jinja_env.finalize = seen
    app.jinja_env.globals["static"] = _static_url
    stylesheets.init_app(app)
    app.jinja_env.globals["longest_wait"] = _longest_wait(settings)
    app.jinja_env.globals["has_sweeps"] = settings.sweeps is not None
    init_app(app, settings, error_page)
    write_access.init_app(app, settings)
    storage_trouble.init_app(app)
    quotas.init_app(app)
    banned.init_app(app)
    compression.init_app(app)
    settings.make_data_dir()
    use_engines(settings, ask and partial(_asked, ask, ENGINES), alone=False)
    hub = Downloads(settings, _tokenizers(settings, ask).add_hub)
    store = open_store(settings.database_url)
    store.on_change = partial(forget_picture, settings)
    searches = Searches(settings, ask=ask and partial(_asked, ask, SEARCHES))
    app.extensions[EXTENSION] = Services(settings, store, Runner(settings), _held(settings, ask), searches, hub)
    if ask is None:
        for line in refusals(formats_folder(settings)):
            app.logger.warning(line)
    app.register_blueprint(blueprint)
    api.init_app(app)
    app.wsgi_app = mounted(app.wsgi_app, settings)  # type: ignore[assignment, method-assign]
    return app


def _longest_wait(settings: Settings) -> int:
    """Milliseconds after which no answer comes: as long in line as at work, and then what says that it was too long."""
    return 1_000 * (2 * PATIENCE * settings.replay_seconds + _SENT_SECONDS)


def _tokenizers(settings: Settings, ask: Ask | None) -> TokenizerLibrary:
    if ask is None:
        return use(settings)
    return use(settings, partial(SharedTokenizers, other=partial(_asked, ask, TOKENIZERS)))


def _asked(ask: Ask, whom: str, question: dict[str, Any]) -> Mapping[str, Any]:
    return ask({"of": whom, **question})


def _held(settings: Settings, ask: Ask | None) -> HeldRuns:
    return HeldRuns(held_bytes(settings), settings.run_seconds, ask=ask and partial(_asked, ask, RUNS))


def held_bytes(settings: Settings) -> int:
    """The memory that posted runs of a process may take, in bytes."""
    return max(settings.trace_cache_bytes // 8, settings.max_request_bytes)


def _assets(name: str) -> Path:
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def _static_url(name: str) -> str:
    """The address of a static file, with a hash of its content, so that it can be cached for ever."""
    folder = Path(current_app.static_folder or "")
    changed = (folder / name).stat().st_mtime_ns
    return url_for("static", filename=name, v=_digest(folder / name, changed))


@cache
def _digest(path: Path, _changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
