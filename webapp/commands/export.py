"""`export`: a case as a file for another tool."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from parsers.vocabulary.types import UsageError
from webapp.commands.inputs import named, read_cases, shown
from webapp.commands.running import run_case_of
from webapp.runs.exports import TARGETS, exported


@click.command()
@click.argument("case", metavar="CASE|-")
@click.option("--to", "target", metavar="TARGET", required=True, help=f"What to write: {', '.join(TARGETS)}.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of standard output.")
def export(case: str, target: str, output: str | None) -> None:
    """Write a case as a file for another tool.

    CASE is a case file, FILE::NAME for a case of a corpus, or a recording of a server; - is standard input. A pytest
    file is refused for a case that expects nothing: it would test nothing.
    """
    if target not in TARGETS:
        raise UsageError(f"--to {target}: there is no such export; choose one of: {', '.join(TARGETS)}")
    (_, name, found), *others = read_cases(case, one=True)
    if isinstance(found, UsageError):
        raise found
    if others:
        click.echo(f"{shown(case)}: it holds {len(others) + 1:,} outputs; the first is written", err=True)
    with named(name):
        made = exported(run_case_of(name, found), target)
    data = made.text.encode()
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_bytes(data)
    except OSError as error:
        raise UsageError(f"--output {output} cannot be written: {error.strerror}") from error
