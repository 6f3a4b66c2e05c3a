"""`redact`: a case without what it says, for whoever may see the failure and not the words."""

from __future__ import annotations

import click

from parsers.cases.io import dumps
from parsers.cases.redaction.redact import Why
from parsers.vocabulary.types import UsageError
from webapp.commands.find import searched
from webapp.commands.inputs import named, read_cases, shown, titled
from webapp.commands.running import service, within_limits
from webapp.commands.words import count
from webapp.commands.written import write
from webapp.jobs.redacting import RedactedCase, redact_searched
from webapp.runs.prepare import with_defaults

SHOWN = 20  # so many words that stay are named
DIFFERS = 1


@click.command()
@click.argument("case", metavar="CASE|-")
@click.option("-o", "--output", metavar="FILE", help="Write to this file.  [default: -, standard output]")
def redact(case: str, output: str | None) -> int:
    """Replace the words of a case while it shows the same failure.

    CASE is a case file, FILE::NAME for a case of a corpus, or a recording of a server; - is standard input. Words,
    numbers and names become neutral ones of the same shape, the same everywhere; markers of formats stay. A search
    before and after says whether the verdict is the same; the exit code is 1 where it is not. What could not be
    replaced is named on standard error: read it, and the file, before you send it.
    """
    (_, name, found), *others = read_cases(case, one=True)
    if isinstance(found, UsageError):
        raise found
    found = titled(found, name)
    if others:
        click.echo(f"{shown(case)}: it holds {len(others) + 1:,} outputs; the first is redacted", err=True)
    settings = service().settings
    with named(name), within_limits(name):
        made = redact_searched(
            with_defaults(found, settings), settings, lambda one: searched(one, settings, shrinks=0)[0]
        )
    write(dumps(made.made.case), output)
    for line in _said(made):
        click.echo(line, err=True)
    return 0 if made.same else DIFFERS


def _said(made: RedactedCase) -> list[str]:
    """What became of the case, and what stays in it."""
    kept = "the verdict is the same" if made.same else "the verdict is ANOTHER one: send it only as another case"
    lines = [f"{count(made.made.replaced, 'word')} replaced in {count(made.made.runs, 'run')}; {kept}"]
    for why in Why:
        stays = [one.what for one in made.made.stays if one.why is why]
        more = f" and {len(stays) - SHOWN:,} more" if len(stays) > SHOWN else ""
        lines += [f"not replaced, as {why.value}: {', '.join(stays[:SHOWN])}{more}"] * bool(stays)
    return lines
