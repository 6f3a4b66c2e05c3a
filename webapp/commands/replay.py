"""`replay` and `export`: one output through one parser, as a report, as JSON, or as a file for another tool."""

from __future__ import annotations

from typing import Any

import click

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import traced_chunking
from parsers.cases.find import CaseFound
from parsers.cases.run import CaseRun, replayer_of
from parsers.replays.ran_lines import Sought
from parsers.vocabulary.types import MessageDelta, UsageError
from webapp.commands.between import replay_between
from webapp.commands.checkouts import write_into
from webapp.commands.find import searched
from webapp.commands.inputs import jsonl_of, named, read_cases, read_given, say_notes, shown, titled
from webapp.commands.options import Options, blamed, case_with, given_words, replay_options
from webapp.commands.ran_lines import lines_report
from webapp.commands.report import report
from webapp.commands.running import prepared_case_of, run_case_of, service, within_limits
from webapp.commands.suites import column_option, named_columns, named_layers
from webapp.commands.words import SHORT, quoted
from webapp.commands.written import print_parts, write
from webapp.engines import choose
from webapp.runs.exports import TARGETS, exported, suite_test, unreplayed
from webapp.runs.prepare import with_defaults
from webapp.runs.run_text import json_text
from webapp.runs.step_lines import part_with, parts, sent_at, step_lines


@click.command()
@click.argument("file", metavar="FILE|-")
@replay_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole run as one JSON object.")
@click.option("--lines", "step", type=int, metavar="STEP", help="Show the lines that an engine's parser ran then.")
@click.option("--sent", metavar="TEXT", help="With --lines: which line sent this text.  [default: the longest it sent]")
def replay(file: str, as_json: bool, step: int | None, sent: str | None, **options: Any) -> None:
    """Replay one model output and say what came of it.

    FILE is raw model output, a case file, FILE::NAME for a case of a corpus, or a recording of a server (a curl log, a
    JSON answer, token ids, a log line ...); - is standard input. Token ids need --tokenizer. Bytes are taken as they
    are. The exit code is 0 whatever is found. With --engine given again the messages stand beside each other.
    """
    wanted = Options(**options)
    if sent is not None and step is None:
        raise UsageError("--sent: say with --lines at which step it was sent")
    given = read_given(file, wanted.tokenizer, named_columns(wanted.column), named_layers(wanted.layers))
    if len(wanted.engine) > 1:
        if step is not None:
            raise UsageError("--lines: show the lines of one engine at a time; leave the other --engine out")
        replay_between(given, wanted, as_json=as_json)
        return
    try:
        run = run_case_of(given.name, case_with(given, wanted))
    except CaseError as error:
        raise UsageError(blamed(error, given, wanted)) from error
    if step is not None:
        click.echo(_lines(run, step, sent))
        return
    if not as_json:
        click.echo(report(run, given, given_words(wanted)))
        return
    say_notes(given)
    print_parts(json_text(run))


def _lines(run: CaseRun, step: int, sent: str | None) -> str:
    """Raises UsageError where there are none."""
    choice = choose(run.case)
    replayer, traced = replayer_of(run.case, choice, run.stored), traced_chunking(run.case)
    try:
        sought = None if sent is None else _sought(sent_at(choice, run.trace, step), step, sent)
        shown = step_lines(choice, replayer, run.trace, traced, step, sought=sought)
    except UsageError as error:
        raise UsageError(f"--lines {step}: {error}") from error
    return lines_report(run.format.title, shown)


def _sought(delta: MessageDelta | None, step: int, sent: str) -> Sought:
    found = part_with(delta, sent)
    if found is None:
        there = ", ".join([quoted(one.text, SHORT) for one in parts(delta)]) or "nothing"
        raise UsageError(f"--sent {quoted(sent, SHORT)}: step {step:,} sent {there}")
    return found


def _search(name: str, case: Case) -> CaseFound:
    """What a search of the case finds: a report leads with it."""
    with within_limits(name):
        return searched(with_defaults(case, service().settings), service().settings)[0]


@click.command()
@click.argument("case", metavar="CASE|-")
@click.option("--to", "target", metavar="TARGET", required=True, help=f"What to write: {', '.join(TARGETS)}.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file.  [default: -, standard output]")
@column_option
@click.option(
    "--pr",
    "checkout",
    metavar="CHECKOUT",
    help="Write a test for another project into this checkout of it; print the git commands to run.",
)
def export(case: str, target: str, output: str | None, column: tuple[str, ...], checkout: str | None) -> None:
    """Write a case as a file for another tool.

    CASE is a case file, FILE::NAME for a case of a corpus or suite, or a recording of a server; - is standard input. A
    test is refused for a case that expects nothing: it would test nothing. Of a corpus or suite jsonl is all cases.
    """
    if target not in TARGETS:
        raise UsageError(f"--to {target}: there is no such export; choose one of: {', '.join(TARGETS)}")
    suite = TARGETS[target].suite
    if checkout is not None and (suite is None or output is not None):
        raise UsageError("--pr writes a test for another project's suite to its own path: give such a --to, and no -o")
    cases = read_cases(case, one=target != "jsonl", columns=named_columns(column))
    if len(cases) > 1 and cases[0].by_name:
        write(jsonl_of(cases), output)
        return
    (_, name, found), *others = cases
    if isinstance(found, UsageError):
        raise found
    found = titled(found, name)
    if others:
        click.echo(f"{shown(case)}: it holds {len(others) + 1:,} outputs; the first is written", err=True)
    if checkout is not None and suite is not None:
        with named(name):
            test = suite_test(run_case_of(name, found), suite)
        click.echo(write_into(checkout, suite, test))
        return
    form = TARGETS[target]
    with named(name):
        if form.replays:
            made = exported(run_case_of(name, found), target, found=_search(name, found) if target == "html" else None)
        else:
            made = unreplayed(prepared_case_of(name, found), form)
    write(made.text, output)
