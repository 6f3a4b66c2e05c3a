"""`db count`, `db list`, `db purge`, `db takedown`: the shared cases, for whoever runs the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial

import click

from parsers.vocabulary.types import UsageError
from webapp.commands.words import count as counted
from webapp.commands.words import table
from webapp.commands.written import print_json
from webapp.page.sharing.preview_picture import forget_picture
from webapp.settings import get_settings
from webapp.store import CaseStore, open_store
from webapp.store.keeping import Chosen, Keeper
from webapp.store.schema import ID_LENGTH

_OLDER = click.option(
    "--older-than", "days", type=click.IntRange(0), metavar="DAYS", help="Only cases saved more days ago than that."
)
_LARGER = click.option(
    "--larger-than", "larger", type=click.IntRange(1), metavar="CHARACTERS", help="Only cases of more characters."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@_JSON
def count(*, as_json: bool) -> None:
    """Say how many cases there are, and how large they are."""
    with _keeper() as keeper:
        found = keeper.counts()
    if as_json:
        print_json(asdict(found))
        return
    click.echo(f"{counted(found.live, 'case')} of {found.characters:,} characters, {found.listed:,} in the library")
    click.echo(f"{found.deleted:,} deleted, {found.taken_down:,} taken down")


@click.command("list")
@_OLDER
@_LARGER
@_JSON
def listing(days: int | None, larger: int | None, *, as_json: bool) -> None:
    """List the cases that can be read, oldest first. Nothing of what they say is shown."""
    with _keeper() as keeper:
        found = [*keeper.kept(_chosen(days, larger))]
    if as_json:
        print_json([asdict(one) for one in found])
        return
    rows = [[one.id, one.created, f"{one.characters:,}", "listed" if one.listed else "unlisted"] for one in found]
    for line in table(rows):
        click.echo(line)


@click.command()
@_OLDER
@_LARGER
@click.option("--expired", is_flag=True, help="Cases, and shares of cases, that expired.")
@click.option("--yes", is_flag=True, help="Do it; without it, it is only said what would be deleted.")
def purge(days: int | None, larger: int | None, *, expired: bool, yes: bool) -> None:
    """Delete the cases that are old, large, or both, or those that expired.

    Whoever still has one can share it again.
    """
    if expired:
        if days is not None or larger is not None:
            raise UsageError("--expired is given by itself")
        _sweep(yes=yes)
        return
    if days is None and larger is None:
        raise UsageError("say which cases: give --older-than, --larger-than, or both; or --expired")
    with _keeper() as keeper:
        ids = [one.id for one in keeper.kept(_chosen(days, larger))]
        done = keeper.purge(ids) if yes else 0
    if yes:
        _forget_pictures(ids)
        click.echo(f"{counted(done, 'case')} deleted")
    else:
        click.echo(f"{counted(len(ids), 'case')} would be deleted; say --yes to do it")


def _sweep(*, yes: bool) -> None:
    """Take leave of what expired, all of it."""
    with opened_store() as store:
        found = store.expired() if not yes else len(store.sweep())
    if yes:
        click.echo(f"{counted(found, 'case')} swept")
    else:
        click.echo(f"{counted(found, 'share')} expired; say --yes to sweep them away")


@click.command()
@click.argument("cases", metavar="ID...", nargs=-1, required=True)
@click.option("--allow", is_flag=True, help="Let cases that were taken down be shared again.")
def takedown(cases: tuple[str, ...], *, allow: bool) -> None:
    """Empty cases at once, and keep them from being shared again. ID is an id, or the address of a case."""
    ids = [_id_of(one) for one in cases]
    with _keeper() as keeper:
        for one in ids:
            if allow:
                click.echo(f"{one}: {'may be shared again' if keeper.allow(one) else 'was not taken down'}")
            else:
                was_there = keeper.take_down(one)
                _forget_pictures([one])
                click.echo(f"{one}: taken down{'' if was_there else ', though it could not be read'}")


def _forget_pictures(ids: Iterable[str]) -> None:
    settings = get_settings()
    for one in ids:
        forget_picture(settings, one)


def _chosen(days: int | None, larger: int | None) -> Chosen:
    if days is None:
        return Chosen(larger=larger or 0)
    try:
        time = datetime.now(UTC) - timedelta(days=days)
    except OverflowError as error:
        raise UsageError(f"--older-than {days:,} is before there were days to count") from error
    return Chosen(time.isoformat(timespec="milliseconds").replace("+00:00", "Z"), larger or 0)


def _id_of(words: str) -> str:
    """The id in an address, or the words themselves. Raises UsageError for what is no id."""
    found = words.partition("/c/")[2].partition("/")[0] if "/c/" in words else words
    found = found.partition("?")[0].partition(".")[0]
    if len(found) != ID_LENGTH or not found.isalnum():
        raise UsageError(f"{words} is no id of a case: it has {ID_LENGTH} letters and digits")
    return found


@contextmanager
def opened_store() -> Iterator[CaseStore]:
    """The store of the settings, until the block ends."""
    settings = get_settings()
    settings.make_data_dir()
    store = open_store(settings.database_url)
    store.on_change = partial(forget_picture, settings)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _keeper() -> Iterator[Keeper]:
    with opened_store() as store:
        yield Keeper(store)
