"""`db`: the database of shared cases."""

from __future__ import annotations

import click

from webapp.settings import get_settings
from webapp.store import make_engine
from webapp.store import upgrade as upgrade_engine


@click.group(no_args_is_help=True)
def db() -> None:
    """Look after the database of shared cases."""


@db.command()
def upgrade() -> None:
    """Bring the database to the schema of this version. `serve` does it too, at every start."""
    settings = get_settings()
    settings.make_data_dir()
    engine = make_engine(settings.database_url)
    try:
        done = upgrade_engine(engine)
    finally:
        engine.dispose()
    shown = engine.url.render_as_string(hide_password=True)
    was = "had it already" if done.before == done.after else f"had {done.before or 'none'}"
    click.echo(f"{shown}: schema {done.after} ({was})")
