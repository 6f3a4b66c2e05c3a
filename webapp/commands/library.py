"""`library`: import cases into the database of this user, find some, and write them out again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from parsers.vocabulary.types import UsageError
from webapp.cli import one_line
from webapp.commands.inputs import LARGEST, STDIN, files_in
from webapp.commands.kept_cases import opened_store
from webapp.commands.progress_line import counted
from webapp.commands.running import service
from webapp.commands.words import count, table
from webapp.commands.written import print_json
from webapp.page.library.fixed_words import refuse_unknown
from webapp.page.library.importing import Report, imported, tags_of
from webapp.page.library.incoming import Incoming, incoming
from webapp.page.library.listed_case import verdict_words
from webapp.page.library.outgoing import exported_cases
from webapp.page.library.query import wanted_of
from webapp.store import CaseStore
from webapp.store.listings import COUNTED, Wanted

FAILED = 1
SUFFIXES = (".json", ".jsonl", ".zip")


@click.group(no_args_is_help=True)
def library() -> None:
    """Import cases into the library, find some, and write them out again.

    It is the library of the database in the settings: the one that `serve` shows.
    """


@library.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--unlisted", is_flag=True, help="Store the cases and do not list them.")
@click.option("--tags", metavar="TAGS", default="", help="Tags for all of them, separated by commas.")
@click.option("--json", "as_json", is_flag=True, help="Say what came of each case, one JSON object a line.")
def import_(paths: tuple[str, ...], unlisted: bool, tags: str, as_json: bool) -> int:
    """Import case files, corpora, JSON Lines, zips of these, and folders with any of them.

    Each case is replayed and stored under its permalink, and listed. What is stored already stays as it is, so an
    import that was ended can be given again. Exit 1 where a case failed; the others are stored.
    """
    report = Report()
    with opened_store() as store, counted("cases") as say:
        given = (one for path in paths for one in _incoming(path))
        for one in imported(given, service(), store, listed=not unlisted, tags=tags_of(tags)):
            report.add(one)
            say(report.stored + report.known + len(report.failed))
            if as_json:
                said = {"name": one.name, "outcome": one.outcome, "id": one.case_id or None, "why": one.why or None}
                said["delete_key"] = one.delete_key or None
                print_json(said)
    for one in report.failed if not as_json else ():
        click.echo(f"failed  {one_line(one.name)}: {one_line(one.why)}")
    told = f"{report.stored:,} stored, {report.known:,} known already, {len(report.failed):,} failed"
    click.echo(told, err=as_json)
    return FAILED if report.failed else 0


@library.command()
@click.argument("query", metavar="[QUERY]", default="")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def find(query: str, limit: int, as_json: bool) -> None:
    """List the newest cases that QUERY finds, as the search field of the page does: parser:qwen '</tool'."""
    with opened_store() as store:
        found = store.library.search(_wanted(query, store), limit=limit)
    names = ("title", "parser", "engine", "verdict", "severity", "tags", "created")
    if as_json:
        for one in found.rows:
            said = {"id": one.case_id, **{name: getattr(one, name) for name in names}}
            print_json(said)
        return
    rows = [(one.case_id, one.parser, verdict_words(one.verdict), one_line(one.title)) for one in found.rows]
    for line in table(rows):
        click.echo(line)
    more = "more than " * (found.total > COUNTED)
    click.echo(f"{more}{count(min(found.total, COUNTED), 'case')}", err=True)


@library.command()
@click.argument("query", metavar="[QUERY]", default="")
@click.option(
    "-o", "--output", metavar="FILE", default=STDIN, help="A .jsonl or .zip file.  [default: standard output]"
)
def export(query: str, output: str) -> None:
    """Write the cases that QUERY finds, all of them without one, as JSON Lines or as a zip of case files."""
    kind = "zip" if output.endswith(".zip") else "jsonl"
    try:
        with opened_store() as store:
            pieces = exported_cases(kind, store.library.bodies(_wanted(query, store)))
            if output == STDIN:
                for piece in pieces:
                    sys.stdout.buffer.write(piece)
                return
            with Path(output).open("xb") as file:
                file.writelines(pieces)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error


def _wanted(query: str, store: CaseStore) -> Wanted:
    """What a query asks for. Raises UsageError for a word that its field does not take."""
    return refuse_unknown(wanted_of(query), store.library.counts)


def _incoming(path: str) -> Iterator[Incoming]:
    """The cases of a file, or of the files in a folder that can hold some. Raises UsageError for a path that is not
    there; a file in a folder that cannot be read is one that failed."""
    if not Path(path).is_dir():
        yield from incoming(path, _bytes(path))
        return
    for file in files_in(path):
        if file.endswith(SUFFIXES):
            try:
                yield from incoming(file, _bytes(file))
            except UsageError as error:
                yield Incoming(file, error)


def _bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise UsageError(f"{path} has more than {LARGEST:,} bytes")
    return data
