"""`sweep`: many outputs of a corpus through one parser; what is wrong with them, by signature."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from parsers.vocabulary.types import UsageError
from webapp.commands.progress_line import parts_done
from webapp.commands.suites import named_columns
from webapp.commands.sweep_report import report_lines
from webapp.commands.written import print_json
from webapp.sweeps.sweep_folder import Folder
from webapp.sweeps.sweep_pool import SweepPool
from webapp.sweeps.swept import Asked, Planned, Runner, Swept, inline, planned, write_reports
from webapp.sweeps.swept import sweep as swept_by

WRONG = 1


@click.command()
@click.argument("corpus", metavar="CORPUS...", nargs=-1, required=True)
@click.option("--parser", metavar="NAME", help="The parser of all outputs.  [default: that of each row, else auto]")
@click.option("--policy", multiple=True, metavar="KEY=VALUE", help="Set a policy of the parser. May be given again.")
@click.option("--column", multiple=True, metavar="KEY=PATH",
              help="The column that is text, tools, parser ... May be given again.  [default: guessed]")  # fmt: skip
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Run parts of the corpus in so many processes; 0: in this one.  [default: 0]",
)
@click.option("-o", "--output", metavar="DIR", help="Keep what is done and write the reports into this folder.")
@click.option("--words", is_flag=True, help="Show outputs as they are in the reports, not redacted.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def sweep(corpus: tuple[str, ...], output: str | None, jobs: int, as_json: bool, **given: Any) -> int:
    """Replay the outputs of a corpus and count what is wrong with them; exit 1 where anything is.

    CORPUS is a file of JSON Lines or of a list, packed by gzip or zstd or not, a folder or a pattern of such files.
    Each output is replayed whole and in pieces; what the checks find is counted by its signature, with the first rows
    and the smallest case of each. With --output the sweep is taken up again where it was left.
    """
    made, run = planned(_asked(corpus, **given)), SweepPool(jobs) if jobs else inline
    _say_columns(made)
    if output is not None:
        found = _run(made, Folder(Path(output)), run)
    else:
        with TemporaryDirectory(prefix="toolcall-sweep-") as place:
            found = _run(made, Folder(Path(place)), run)
    if as_json:
        print_json(found.report, 2)
    else:
        click.echo("\n".join(report_lines(found.report)))
    return WRONG if found.summary.wrong else 0


def _asked(
    corpus: tuple[str, ...], *, parser: str | None, policy: tuple[str, ...], column: tuple[str, ...], words: bool
) -> Asked:
    pairs = [pair.partition("=") for pair in policy]
    if wrong := next((pair for pair in pairs if not pair[1]), None):
        raise UsageError(f"--policy {wrong[0]}: give it as KEY=VALUE")
    return Asked(corpus, parser, {key: value for key, _, value in pairs}, named_columns(column), words=words)


def _say_columns(made: Planned) -> None:
    """Say which columns were taken, on standard error."""
    said = [f"{key}={path}{' (guessed)' * (key in made.guessed)}" for key, path in made.plan.columns.items()]
    if said:
        click.echo(f"columns: {', '.join(said)}", err=True)


def _run(made: Planned, folder: Folder, run: Runner) -> Swept:
    with parts_done("parts") as say:
        found = swept_by(made, folder, run, say)
    write_reports(folder, made, found)
    return found
