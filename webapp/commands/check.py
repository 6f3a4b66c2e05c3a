"""`check`: case files as tests. Every case is replayed under every chunking and held to what it expects.

================  ====================  =========================================================================
outcome           exit code             when
================  ====================  =========================================================================
ok                0                     as expected under every chunking, and no check finds an error
FAIL              1                     otherwise
as before         0                     it fails in nothing that the baseline, or the engine `base`, does not too
known bug         0                     it fails, and its verdict says known_bug
fixed             0                     it is as it expects although its verdict says known_bug
not seen          0                     its verdict says known_bug, it expects nothing, and the chunkings show nothing
differs           0                     not as expected, verdict implementation_defined; a check's error still fails
skip              0                     its engine is not here, or the one that was named has no parser for it
unusable          2                     it is no case, or cannot be replayed
================  ====================  =========================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from parsers.vocabulary.types import UsageError
from webapp.cli import BAD_INPUT, one_line
from webapp.commands.baselines import Baseline, Entry, read_baseline, write_baseline
from webapp.commands.case_outcomes import BASE, Asked, By, CaseResult, reason, results_of, told
from webapp.commands.check_junit import check_junit
from webapp.commands.check_summary import counted, remarks, summary, tested
from webapp.commands.engine_option import named, several
from webapp.commands.inputs import OF_CORPUS, STDIN, files_in, read_cases
from webapp.commands.suites import column_option, is_suite, named_columns
from webapp.commands.uploads import HEADER_VARIABLE, Uploads
from webapp.commands.words import count
from webapp.commands.written import must_be_files, put

_KNOWN = ("FAIL", "as before", "skip")  # the outcomes whose wrongs are known by a baseline; others may fail of them
SUFFIXES = (".case.json", ".cases.json")


@dataclass(slots=True)
class _Options:
    """Holds the options of the command, by their names."""

    engine: tuple[str, ...]
    parser: str | None
    column: tuple[str, ...]
    baseline: str | None
    write_baseline: str | None
    junit: str | None
    summary: str | None
    append: bool
    upload: str | None
    upload_header: tuple[str, ...]


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--engine", metavar="[LABEL=]NAME[:PARSER]", multiple=True,
              help="Run the cases by an engine that was entered; given again, by each. Beside one that is labelled base"
                   " only what is worse than there fails.")  # fmt: skip
@click.option("--parser", metavar="NAME", help="Run the cases by this parser instead of their own.")
@column_option
@click.option("--baseline", metavar="FILE", help="Fail only what became worse than this file says.")
@click.option("--write-baseline", metavar="FILE", help="Write what is wrong now as a baseline; then nothing fails.")
@click.option("--junit", metavar="FILE", help="Write the results as JUnit XML.")
@click.option("--summary", metavar="FILE", help="Write a summary in Markdown.")
@click.option("--append", is_flag=True, help="Add the summary to what is in its file.")
@click.option("--upload", metavar="URL", help="Post what fails to this server and print the permalinks.")
@click.option("--upload-header", metavar="LINE", multiple=True,
              help=f"A header of them, as 'Authorization: Bearer SECRET'; default: {HEADER_VARIABLE}.")  # fmt: skip
def check(paths: tuple[str, ...], **given: Any) -> int:
    """Run case files; exit 1 when one fails.

    PATH is a case file, a corpus (*.cases.json, or a *.jsonl of cases), one case of it (FILE::NAME), or a folder, of
    which all of these are run, those in its subfolders too. It may be a suite of another project: vLLM's tests in
    Python, Dynamo's YAML, rows with columns. Each case is replayed under its own chunkings or the usual ones and as a
    whole, compared with what it expects, and checked.
    """
    options = _Options(**given)
    asked, uploads = _asked(options), _uploads(options)
    results = []
    for line in tested(asked):
        click.echo(line)
    for name in [name for path in paths for name in _case_files(path)]:
        for result in _results(name, asked):
            if uploads is not None:
                uploads.take(result)
            results.append(result)
            click.echo("\n".join(told(result)))
    words = [] if uploads is None else uploads.remarks()
    click.echo("\n".join([counted(results, asked), *remarks(results, asked), *map(one_line, words)]))
    _write(options, asked, results, words)
    return _exit_code(options, results, uploads)


def _asked(options: _Options) -> Asked:
    """Who runs the cases, and what is known of them. Raises UsageError before anything is run."""
    written = {"--junit": options.junit, "--summary": options.summary, "--write-baseline": options.write_baseline}
    must_be_files(written)
    engines = several(options.engine)
    if engines and options.parser is not None:
        raise UsageError("--parser and --engine both say who parses; leave one out (--engine NAME:PARSER)")
    for engine in engines:
        named(engine.word)
    if options.parser == "":
        raise UsageError("--parser: give the name of a parser; `toolcall-inspector parsers` lists them")
    labelled = len(engines) > 1 or any(word.startswith(f"{BASE}=") for word in options.engine)
    base = next((engine for engine in engines if labelled and engine.label == BASE), None)
    others = tuple([engine for engine in engines if engine is not base])
    if base is not None and not others:
        raise UsageError(f"--engine {BASE}={base.word} is what others are compared with; give --engine head=NAME too")
    if base is not None and (options.baseline or options.write_baseline):
        raise UsageError(f"a baseline and --engine {BASE}=NAME both say what is known; leave one of them out")
    if options.append and options.summary is None:
        raise UsageError("--append is for --summary FILE")
    baseline = None if options.baseline is None else read_baseline(options.baseline)
    own = By() if options.parser is None else By.parser(options.parser)
    by, columns = tuple(map(By.engine, others)) or (own,), named_columns(options.column)
    return Asked(by, base and By.engine(base), baseline, keep_runs=options.upload is not None, columns=columns)


def _uploads(options: _Options) -> Uploads | None:
    if options.upload is None:
        return None
    return Uploads(options.upload, options.upload_header)


def _case_files(path: str) -> list[str]:
    """The file itself, or the files of a folder that hold cases, in order. Raises UsageError where there are none."""
    if path == STDIN or not Path(path).is_dir():
        return [path]
    found = [file for file in files_in(path) if file.endswith(SUFFIXES) or is_suite(file)]
    if not found:
        kinds = "no *.case.json file, no corpus (*.cases.json, *.jsonl of cases) and no suite"
        raise UsageError(f"{path} holds {kinds}; give case files, or a folder that holds some")
    return found


def _results(name: str, asked: Asked) -> Iterator[CaseResult]:
    try:
        cases = read_cases(name, columns=asked.columns, every_row=True)
    except UsageError as error:
        yield CaseResult(name, "unusable", name, why=reason(str(error), name))
        return
    file = name if Path(name).is_file() else name.partition(OF_CORPUS)[0]
    for title, again, case in cases:
        if isinstance(case, UsageError):
            yield CaseResult(title, "unusable", file, why=reason(str(case), again))
        else:
            yield from results_of(file, title, again, case, asked)


def _write(options: _Options, asked: Asked, results: list[CaseResult], words: list[str]) -> None:
    """The files that were asked for. Raises UsageError where one cannot be written."""
    if options.junit is not None:
        put("--junit", options.junit, check_junit(results, asked.tested))
    if options.summary is not None:
        put("--summary", options.summary, summary(results, asked, words), append=options.append)
    if options.write_baseline is not None and not _ran_nothing(options, results):
        entries = [entry for result in results if result.id for entry in _entry(result, asked.baseline)]
        number, wrong = write_baseline(options.write_baseline, entries)
        click.echo(f"{count(number, 'entry', 'entries')}, {wrong:,} of them wrong, written to {options.write_baseline}")


def _entry(result: CaseResult, baseline: Baseline | None) -> Iterator[Entry]:
    """The entry of a result; of a case that could not be run, the one that there was, if any."""
    if result.outcome != "unusable":
        wrong = (result if result.outcome in _KNOWN else replace(result, wrong={})).known
    elif baseline is not None and baseline.knows(result.id, result.engine):
        wrong = baseline.of(result.id, result.engine)
    else:
        return
    yield Entry(case=result.id, engine=result.engine, name=result.entry_name, wrong=dict(wrong))


def _ran_nothing(options: _Options, results: list[CaseResult]) -> bool:
    """Return whether engines were named and none of them ran a case: then nothing is known of them."""
    return bool(options.engine and results) and all(result.outcome == "skip" for result in results)


def _exit_code(options: _Options, results: list[CaseResult], uploads: Uploads | None) -> int:
    """The exit code. Raises UsageError where nothing was run by an engine that was named, or nothing can be posted."""
    if uploads is not None and uploads.stopped is not None:
        raise uploads.stopped
    outcomes = Counter(result.outcome for result in results)
    if _ran_nothing(options, results):
        raise UsageError(f"no case was run: {results[0].why}")
    if outcomes["unusable"]:
        return BAD_INPUT
    accepted = options.write_baseline is not None and options.baseline is None
    return int(outcomes["FAIL"] > 0 and not accepted)
