"""`find --export TARGET`: the smallest case that a search found, as a file for another tool on standard output.

A report is of the whole search: its verdict, its findings, and the smallest case in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from parsers.cases.case import Case, CaseError, ParserRef
from parsers.cases.engines import BUILTIN
from parsers.cases.expect import accept
from parsers.cases.find import CaseFound
from parsers.formats.model import Format
from parsers.vocabulary.types import UsageError
from webapp.commands.inputs import named, shown
from webapp.commands.running import run_case_of
from webapp.commands.written import print_parts
from webapp.engines import choose
from webapp.runs.exports import TARGETS, exported

WHOLE = ("markdown", "html")
LEFT = "the search was left before it had a smaller case, so this is the one that was given; --seconds gives it longer"
export_option = click.option(
    "--export",
    "target",
    metavar="TARGET",
    help="Write the smallest case, or the report of the search as markdown or html, to standard output instead, for a "
    "target of `export`; the verdict goes to standard error.",
)


def refuse_with(target: str, *, as_json: bool, engines: Sequence[str]) -> None:
    """Raise UsageError for a target that there is not, and for options that say something else of what is printed."""
    if target not in TARGETS:
        raise UsageError(f"--export {target}: there is no such export; choose one of: {', '.join(TARGETS)}")
    if as_json:
        raise UsageError("--export and --json both say what is printed; leave one out")
    if len(engines) > 1:
        raise UsageError("--export writes what breaks one parser; leave the other --engine out")


def write_smallest(name: str, found: CaseFound, target: str) -> None:
    """Write the smallest case; the case itself where what it expects is not met and no smaller one says what is right,
    or where the search was left before there was a smaller one; nothing where nothing was found in the output itself;
    or the report of the search. Raises UsageError where the target cannot say it."""
    if target in WHOLE:
        with named(name):
            print_parts([exported(run_case_of(name, found.case), target, found=found).text])
        return
    small, case = found.found.minimized, found.minimized
    wrong = any(finding.severity != "info" for finding in found.found.findings)
    of_changed = small is not None and small.of_changed and not wrong
    says_less = case is None or of_changed or case.known.expect is None
    if found.departs is not None and found.fails and says_less:
        case, of_changed = found.case, False
    if case is None and wrong and not found.found.complete:
        case = _as_given(found)
        click.echo(f"{shown(name)}: {LEFT}", err=True)
    if case is None:
        more = "" if found.found.complete else "; the search was left before its end, --seconds gives it longer"
        click.echo(f"{shown(name)}: nothing was found to export{more}", err=True)
    elif small is not None and of_changed:
        words = f"only a changed output shows {small.check}; find --json has its case"
        click.echo(f"{shown(name)}: nothing was found to export in this output: {words}", err=True)
    else:
        with named(name):
            print_parts([_exported(name, case, target)])


def _as_given(found: CaseFound) -> Case:
    """The case of a search, cut as in the smallest chunking of each outcome but the first, which is as it is traced."""
    others = [one.smallest for one in found.found.outcomes[1:]]
    return found.case.model_copy(update={"replay": tuple(dict.fromkeys([*others, *found.case.replay]))})


def _exported(name: str, case: Case, target: str) -> str:
    run = run_case_of(name, case)
    try:
        return exported(run, target).text
    except CaseError as error:
        if error.pointer != "/expect":
            raise
        grammar = choose(case).grammar
        read = None if grammar is None else _as_read_by(name, case, grammar)
        if grammar is None or read is None:
            words = "the search cannot tell which of the messages is right; export the case and say so in its 'expect'"
            raise UsageError(f"{shown(name)}: --export {target}: {words}") from error
    words = f"it expects what the format {grammar.name} reads: see that it is right"
    click.echo(f"{shown(name)}: {words}", err=True)
    return exported(run_case_of(name, read), target).text


def _as_read_by(name: str, case: Case, grammar: Format) -> Case | None:
    """The case of a parser that is not ours, which expects the calls that the built-in parser of its format reads
    without an error; None where there are none."""
    if case.parser.engine in (None, BUILTIN):
        return None
    ref = ParserRef(name=grammar.name, format=case.parser.format)
    right = run_case_of(name, case.model_copy(update={"parser": ref, "contract": None}))
    wrong = any(finding.severity == "error" for finding in right.findings)
    message = right.trace.message
    return None if wrong or not message.tool_calls else case.model_copy(update={"expect": accept(message)})
