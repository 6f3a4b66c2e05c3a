"""`sweep`: many outputs of a corpus through one parser, or several engines; what is wrong with them, by signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from parsers.formats.contracts import contract_named
from parsers.sweeps.changes import changes_json, checked_report
from parsers.sweeps.first_stage import Means
from parsers.vocabulary.types import UsageError
from webapp.commands.engine_option import several
from webapp.commands.inputs import read_json
from webapp.commands.parser_of_corpus import asked_of
from webapp.commands.progress_line import parts_done
from webapp.commands.suites import named_columns
from webapp.commands.sweep_junit import sweep_junit
from webapp.commands.sweep_report import changes_lines, report_lines
from webapp.commands.sweep_result import SweepResult
from webapp.commands.written import must_be_files, print_json, put, put_copy
from webapp.engines.entered import entered
from webapp.page.library.gallery_threads import threads_about
from webapp.sweeps.row_table import must_write
from webapp.sweeps.standard_input import kept
from webapp.sweeps.sweep_cluster import LOCAL, SweepCluster
from webapp.sweeps.sweep_folder import Folder
from webapp.sweeps.sweep_means import means_here
from webapp.sweeps.sweep_pool import SweepPool
from webapp.sweeps.sweep_reports import TABLE, write_reports
from webapp.sweeps.swept import Asked, Planned, Runner, inline, planned
from webapp.sweeps.swept import sweep as swept_by

WRONG = 1


@click.command()
@click.argument("corpus", metavar="CORPUS...", nargs=-1)
@click.option("--parser", metavar="NAME", help="The parser of all outputs.  [default: that of each row, else auto]")
@click.option(
    "--engine",
    multiple=True,
    metavar="[LABEL=]NAME[:PARSER]",
    help="Run a parser of an engine that was entered. Given again: each, and what is new beside the first.",
)
@click.option(
    "--python", metavar="PATH", help="Run a class of your own in this interpreter; --engine then is module:Class."
)
@click.option("--path", metavar="FOLDER", help="Where --python finds modules besides, such as a checkout.")
@click.option("--reasoning-parser", metavar="NAME", help="The engine's reasoning parser, which reads first.")
@click.option("--contract", metavar="NAME", help="What the server promises: openai, as_streamed, strict, vllm ...")
@click.option("--policy", multiple=True, metavar="KEY=VALUE", help="Set a policy of the parser. May be given again.")
@click.option("--column", multiple=True, metavar="KEY=PATH",
              help="The column that is text, tools, parser ... May be given again.  [default: guessed]")  # fmt: skip
@click.option("--baseline", metavar="FILE", help="Fail only what is new beside the report.json of another sweep.")
@click.option("--junit", metavar="FILE", help="Write the signatures as JUnit XML.")
@click.option("--parquet", metavar="FILE", help="Write the ids of rows by signature as Parquet.")
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Run parts of the corpus in so many processes; 0: in this one.  [default: 0]",
)
@click.option(
    "--dask",
    is_flag=False,
    flag_value=LOCAL,
    metavar="[ADDRESS]",
    help="Run parts of the corpus on Dask: on the scheduler at tcp://HOST:PORT, or alone on a cluster of this machine.",
)
@click.option("-o", "--output", metavar="DIR", help="Keep what is done and write the reports into this folder.")
@click.option("--words", is_flag=True, help="Show outputs as they are in the reports, not redacted.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def sweep(
    corpus: tuple[str, ...],
    output: str | None,
    jobs: int,
    dask: str | None,
    as_json: bool,
    baseline: str | None,
    junit: str | None,
    parquet: str | None,
    **given: Any,
) -> int:
    """Replay the outputs of a corpus and count what is wrong with them; exit 1 where anything is.

    CORPUS is a file of JSON Lines, of a list or of Parquet, a server's log or a recorded stream, packed by gzip or zstd
    or not; a folder or a pattern of such files; or - for standard input.
    Each output is replayed whole and in pieces; what the checks find is counted by its signature, with the first rows
    and the smallest case of each. With --output the sweep is taken up again where it was left.
    """
    if dask and "://" not in dask:  # it stands before the corpus, and has taken its first name
        corpus, dask = (dask, *corpus), LOCAL
    if not corpus:
        raise UsageError("give a CORPUS: files, folders or patterns, or - for standard input")
    must_be_files({"--output": output, "--junit": junit, "--parquet": parquet})
    if baseline is not None and len(given["engine"]) > 1:
        raise UsageError("--baseline and several --engine both say beside what; leave one out")
    if parquet is not None:
        _must_write(parquet, given["engine"])
    runner = _runners(jobs, dask)
    before = None if baseline is None else checked_report(read_json("--baseline", baseline), f"--baseline {baseline}")
    told: list[SweepResult] = []
    with _place(output) as place, kept(corpus, place) as stdin:
        sides = _sides(corpus, stdin, **given)
        _say_columns(sides[0].made)
        for side in sides:
            told.append(_told(side, place, runner, before, parquet))
            before = before or (told[0].report if len(sides) > 1 else None)
    if junit is not None:
        put("--junit", junit, sweep_junit([(one, output and str(Path(output, one.folder))) for one in told]))
    _print(told, as_json=as_json)
    return WRONG if any(one.fails for one in told[1:] or told) else 0


class _Runners(NamedTuple):
    """Who runs shards: so many processes, this one for 0; or the scheduler of Dask at an address."""

    jobs: int
    dask: str | None

    def of(self, made: Planned, means: Means) -> Runner:
        """The runner of a sweep."""
        if self.dask is not None:
            return SweepCluster(self.dask, self.jobs, engine_bytes=_engine_bytes(made))
        return SweepPool(self.jobs, engine_bytes=_engine_bytes(made)) if self.jobs else partial(inline, means=means)


def _runners(jobs: int, dask: str | None) -> _Runners:
    if dask and jobs:
        raise UsageError("--jobs: how much is run at a time is up to the workers of the scheduler; leave it out")
    return _Runners(jobs, dask)


class _Side(NamedTuple):
    """One parser that the corpus is swept by; the label is empty where there is only one."""

    label: str
    made: Planned


def _sides(
    corpus: tuple[str, ...],
    stdin: Path | None,
    *,
    engine: tuple[str, ...],
    policy: tuple[str, ...],
    column: tuple[str, ...],
    contract: str | None,
    words: bool,
    **parsers: Any,
) -> list[_Side]:
    """What is asked for, by each engine. Raises UsageError."""
    pairs = [pair.partition("=") for pair in policy]
    if wrong := next((pair for pair in pairs if not pair[1]), None):
        raise UsageError(f"--policy {wrong[0]}: give it as KEY=VALUE")
    if policy and engine:
        raise UsageError("--policy: the parsers of an engine are its own; --contract says what is expected of them")
    policies = {key: value for key, _, value in pairs}
    asked = Asked(corpus, policy=policies, contract=contract, columns=named_columns(column), words=words, stdin=stdin)
    if contract is not None:
        contract_named(contract)
    if len(engine) < 2:
        return [_Side("", planned(asked_of(asked, engine, **parsers)))]
    return [_Side(one.label, planned(asked_of(asked, (one.word,), **parsers))) for one in several(engine)]


def _say_columns(made: Planned) -> None:
    """Say which columns were taken, on standard error."""
    said = [f"{key}={path}{' (guessed)' * (key in made.guessed)}" for key, path in made.plan.columns.items()]
    if said:
        click.echo(f"columns: {', '.join(said)}", err=True)


@contextmanager
def _place(output: str | None) -> Iterator[Path]:
    """Where a sweep keeps what it does: a folder that was asked for, else one that goes."""
    if output is not None:
        yield Path(output)
        return
    with TemporaryDirectory(prefix="toolcall-sweep-") as place:
        yield Path(place)


def _must_write(parquet: str, engines: Sequence[str]) -> None:
    """Raises UsageError where no table can be written."""
    if len(engines) > 1:
        raise UsageError(f"--parquet {parquet}: of several engines each has a {TABLE} in its folder; give --output")
    must_write(f"--parquet {parquet}")


def _told(
    side: _Side, place: Path, runner: _Runners, before: Mapping[str, Any] | None, parquet: str | None
) -> SweepResult:
    """Sweep, and write the reports."""
    means = means_here()
    folder = Folder(place / SweepResult(side.label, {}).folder)
    with parts_done("parts") as say:
        found = swept_by(side.made, folder, runner.of(side.made, means), say, means, threads_about(side.made.version))
    result = SweepResult(side.label, found.report, before, before and changes_json(before, found.report))
    write_reports(folder, side.made, found, result.changes)
    folder.write("report.junit.xml", sweep_junit([(result, "")]))
    if parquet is not None:
        put_copy("--parquet", parquet, folder.path / TABLE)
    return result


def _engine_bytes(made: Planned) -> int:
    """What the engine may keep that parses; 0 where none does."""
    engine = (made.plan.parser or {}).get("engine")
    return 0 if engine is None else entered().entries()[engine].memory_bytes


def _print(told: Sequence[SweepResult], *, as_json: bool) -> None:
    if as_json:
        alone = told[0].to_json() if len(told) == 1 else None
        print_json(alone or {"sweeps": [{"label": one.label, **one.to_json()} for one in told]}, 2)
        return
    for number, one in enumerate(told):
        heading = [""] * bool(number) + [f"== {one.label}"] * bool(one.label)
        changes = [] if one.changes is None else changes_lines(one.changes, told[0].label if number else "")
        click.echo("\n".join([*heading, *report_lines(one.report), *changes]))
