"""`parsers`: the list of parsers, one parser in full, and the static check of a format file."""

from __future__ import annotations

from collections.abc import Iterator

import click

from parsers.formats.diagram import RowLine, rows_table
from parsers.formats.extends import Expanded, expand
from parsers.formats.lint import lint_file
from parsers.formats.model import Format, Policy, builtin_formats, load_format, policy_values
from parsers.selection.registry import get_format, policies
from parsers.vocabulary.types import UsageError
from webapp.cli import one_line
from webapp.commands.inputs import read_json
from webapp.commands.words import count, quoted, section, table
from webapp.engines.response_template import about
from webapp.formats.folder import FormatsFolder, formats_folder, refusals
from webapp.runs.format_example import example_findings
from webapp.settings import get_settings

CHECK = "check"
_WORK = 5_000_000  # for the chunkings of an example, see search_shortly: some seconds


@click.command()
@click.argument("words", metavar="[NAME | check FILE]", nargs=-1)
def parsers(words: tuple[str, ...]) -> int:
    """List the parsers, show one, or check a format file.

    NAME is a parser or an alias: its grammar by example, policies, states and rows are shown. `check FILE` verifies a
    format file of your own and reads its example in many chunkings; the exit code is 1 when it has an error.
    """
    if words[:1] == (CHECK,):
        if len(words) != 2:
            raise UsageError("parsers check: give one format file")
        return _check(words[1])
    if len(words) > 1:
        raise UsageError(f"parsers: give one NAME, or `check FILE`, not {len(words)} words")
    folder = formats_folder(get_settings())
    for one in refusals(folder):
        click.echo(one, err=True)
    if words == (about.NAME,):
        click.echo("\n".join(_engine()))
    elif words:
        fmt = folder.find(words[0]) or get_format(words[0])
        click.echo("\n".join(_described(fmt, expand(folder.source(fmt.name), folder.source))))
    else:
        click.echo("\n".join(_listed(folder)))
    return 0


def _listed(folder: FormatsFolder) -> list[str]:
    built_in = [[fmt.name, fmt.title, _aliases(fmt)] for fmt in builtin_formats().values()]
    own = [[fmt.name, f"{fmt.title} (formats folder)", _aliases(fmt)] for fmt in folder.formats.values()]
    return table([*built_in, [about.NAME, about.TITLE, "an engine: needs a template"], *own])


def _engine() -> Iterator[str]:
    yield f"{about.NAME}: {about.TITLE}"
    yield about.DESCRIPTION
    yield from section("an output of it", [f"  {line}" for line in about.EXAMPLE.split("\n")])
    yield from section("how to use it", [f"  {line}" for line in about.USAGE])


def _aliases(fmt: Format) -> str:
    return f"also called {', '.join(fmt.aliases)}" if fmt.aliases else ""


def _described(fmt: Format, expanded: Expanded) -> Iterator[str]:
    """One parser in full; `expanded` says which of its rows its file does not hold itself."""
    yield f"{fmt.name}: {fmt.title}"
    for text in (fmt.description, _aliases(fmt)):
        if text:
            yield text
    yield from section("an output of it", [f"  {line}" for line in fmt.example.split("\n")])
    yield from section("policies (--policy KEY=VALUE)", list(_policies(fmt)))
    yield from section("markers", table(_terminals(fmt), "  "))
    yield from section("states", table(_states(fmt), "  "))
    yield from section("rows", table(map(_row, rows_table(fmt, expanded)), "  "))


def _policies(fmt: Format) -> Iterator[str]:
    values = policies(fmt)
    for key in fmt.policies:
        yield f"  {key}={values[key]}"
        yield f"    {Policy.model_fields[key].description} Values: {', '.join(policy_values()[key])}."


def _terminals(fmt: Format) -> Iterator[list[str]]:
    for name, text in fmt.terminals.items():
        token = fmt.tokens.get(text)
        yield [name, quoted(text), "" if token is None else "one special token" if token.special else "one token"]


def _states(fmt: Format) -> Iterator[list[str]]:
    for name, state in fmt.states.items():
        text = f"codec {state.codec.name}" if state.codec else state.text or ""
        starts = [(fmt.initial, "first"), (fmt.initial_when_reasoning_open, "first where reasoning is open")]
        yield [
            name,
            text,
            "; ".join([words for first, words in starts if first == name] + [state.note] * bool(state.note)),
        ]


def _row(row: RowLine) -> list[str]:
    when = f"when {row.when}" if row.when else ""
    diagnostic = f"diagnostic {row.diagnostic}" if row.diagnostic else ""
    notes = "; ".join(part for part in (when, diagnostic, row.note) if part)
    source = f"({row.source})" if row.source else ""
    keep = "kept as text" if row.keep == "text" else ""
    return [
        row.id,
        row.state,
        row.trigger,
        f"> {row.to}",
        " ".join([*row.emit, keep]).strip(),
        f"{notes} {source}".strip(),
    ]


def _check(file: str) -> int:
    parents = formats_folder(get_settings()).source
    data = read_json("parsers check", file)
    found = lint_file(data, parents)
    if not any(finding.severity == "error" for finding in found):
        found = [*example_findings(load_format(expand(data, parents).data), _WORK), *found]  # errors first
    for finding in found:
        click.echo(f"{finding.severity}  {finding.pointer or '/'}: {one_line(finding.message)} [{finding.code}]")
    errors = sum(finding.severity == "error" for finding in found)
    click.echo(f"{file}: {count(errors, 'error')}, {count(len(found) - errors, 'other remark')}")
    return int(errors > 0)
