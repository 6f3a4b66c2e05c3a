"""`corpus cover`: the rows of a format, or the lines of an engine's parser, that a corpus never reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from parsers.sweeps.reach import LineReach, Reach, Reached, Reaching
from parsers.sweeps.report import percent
from webapp.cli import one_line
from webapp.commands.parser_of_corpus import asked_of
from webapp.commands.progress_line import counted
from webapp.commands.suites import named_columns
from webapp.commands.words import count, table
from webapp.commands.written import print_json
from webapp.sweeps.shard_rows import rows_of
from webapp.sweeps.standard_input import kept
from webapp.sweeps.sweep_means import means_here
from webapp.sweeps.swept import Asked, Planned, planned


@click.command()
@click.argument("corpus", metavar="CORPUS...", nargs=-1, required=True)
@click.option("--parser", metavar="NAME", help="The parser of all outputs.  [default: that of each row, else auto]")
@click.option("--engine", metavar="NAME[:PARSER]", help="A parser of an engine that was entered: its lines are told.")
@click.option(
    "--python", metavar="PATH", help="Run a class of your own in this interpreter; --engine then is module:Class."
)
@click.option("--path", metavar="FOLDER", help="Where --python finds modules besides, such as a checkout.")
@click.option("--column", multiple=True, metavar="KEY=PATH",
              help="The column that is text, tools, parser ... May be given again.  [default: guessed]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print all rows, with how many outputs reached each, as JSON.")
def cover(
    corpus: tuple[str, ...],
    parser: str | None,
    engine: str | None,
    python: str | None,
    path: str | None,
    column: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say which rows of its format, or lines of its code, no output of a corpus reached.

    CORPUS is what `sweep` takes. A row is a line of the table that a parser is: in this state, on this marker, go
    there. What is listed was never tried by these outputs; the share says how much of the parser they are a test of.
    Of a parser of an engine it lists functions and lines, in the files that its classes stand in.
    """
    with TemporaryDirectory(prefix="toolcall-cover-") as place, kept(corpus, Path(place)) as stdin:
        asked = Asked(corpus, columns=named_columns(column), stdin=stdin)
        engines = () if engine is None else (engine,)
        who = asked_of(asked, engines, parser=parser, python=python, path=path, reasoning_parser=None)
        found = _reached(planned(who))
    if as_json:
        print_json(found.to_json(), 2)
    else:
        click.echo("\n".join(_lines(found)))


def _reached(made: Planned) -> Reached:
    reaching, done = Reaching(made.plan, means_here()), 0
    with counted("rows") as say:
        for shard in made.shards:
            for row in rows_of(made.files[shard.file], shard, made.plan.columns.values()):
                reaching.take([row])
                done += 1
                say(done)
    return reaching.found


def _lines(found: Reached) -> Iterator[str]:
    if not found.parsers and not found.engines:
        yield "No output was found."
    told = [_of_parser(name, reach) for name, reach in sorted(found.parsers.items())]
    told += [_of_engine(name, reach) for name, reach in sorted(found.engines.items())]
    for number, lines in enumerate(told):
        yield from [""] * bool(number)
        yield from lines
    for why, many in sorted(found.skipped.items(), key=lambda one: one[0].name):
        yield one_line(f"not read: {count(many, 'row')}: {why.value}")


def _of_parser(name: str, reach: Reach) -> Iterator[str]:
    all_of_them, never = len(reach.rows), reach.never
    reached = f"{all_of_them - len(never):,} of {count(all_of_them, 'row')} reached"
    yield f"{name}: {reached} ({percent(all_of_them - len(never), all_of_them)}) by {count(reach.outputs, 'output')}"
    if never:
        rows = [(row.id, row.state, one_line(row.on), row.to, one_line(row.note)) for row in never]
        yield from table([("never", "in state", "on", "to", "meaning"), *rows])


def _of_engine(name: str, reach: LineReach) -> Iterator[str]:
    functions = reach.ordered()
    lines, ran = sum([len(one.lines) for one in functions]), sum([len(one.ran) for one in functions])
    if not functions:
        yield f"{name}: its engine does not tell which lines ran"
        return
    reached = f"{ran:,} of {count(lines, 'line')} reached"
    yield f"{name}: {reached} ({percent(ran, lines)}) by {count(reach.outputs, 'output')}"
    never = [(one, sorted({*one.lines} - {*one.ran})) for one in functions]
    rows = [
        (one.module, one.name, "all of it" if not one.ran else _runs(left, one.lines)) for one, left in never if left
    ]
    if rows:
        yield from table([("never", "function", "lines"), *[tuple(map(one_line, row)) for row in rows]])


def _runs(left: Sequence[int], lines: Sequence[int]) -> str:
    """Lines as runs: 12-15, 20. A run goes on over lines that are none of the function's."""
    places = {line: place for place, line in enumerate(lines)}
    runs: list[list[int]] = []
    for line in left:
        if runs and places[line] == places[runs[-1][1]] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join([f"{first}-{last}" if last > first else f"{first}" for first, last in runs])
