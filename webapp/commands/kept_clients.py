"""`db clients`, `db ban`: who stored how much today, and from whom nothing more is taken."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict

import click

from parsers.vocabulary.types import UsageError
from webapp.commands.kept_cases import opened_store
from webapp.commands.words import table
from webapp.commands.written import print_json
from webapp.store.keys import digest_of
from webapp.store.spending import DIGITS

_DIGEST = re.compile(rf"[0-9a-f]{{{DIGITS}}}|[0-9a-f]{{64}}")
_SAYS = {
    (False, True): "banned",
    (False, False): "was banned already",
    (True, True): "is served again",
    (True, False): "was not banned",
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def clients(*, as_json: bool) -> None:
    """List the clients that stored something today (UTC), whoever stored most first.

    A client is a digest that means nothing tomorrow: a secret, a name from the proxy, or a network.
    """
    with opened_store() as store:
        found = store.spending.today()
    if as_json:
        print_json([asdict(one) for one in found])
        return
    rows = [[one.client, f"{one.cases:,} cases", f"{one.bytes:,} bytes", f"{one.uploads:,} uploads"] for one in found]
    for line in table(rows):
        click.echo(line)


@click.command()
@click.argument("digests", metavar="[CLIENT]...", nargs=-1)
@click.option("--secret", is_flag=True, help="Whoever has the secret that is asked for, or stands on standard input.")
@click.option("--lift", is_flag=True, help="Lift these bans.")
def ban(digests: tuple[str, ...], *, secret: bool, lift: bool) -> None:
    """Take nothing more from clients: neither runs, searches nor cases. Without any, list the bans.

    CLIENT is a digest that `db clients` shows: its ban ends with the day (UTC), a secret's when it is lifted.
    """
    wrong = next((one for one in digests if not _DIGEST.fullmatch(one)), None)
    if wrong is not None:
        raise UsageError(f"{wrong[:40]} is no client: `db clients` lists them, as {DIGITS} digits from 0 to f")
    asked = [*digests, *([digest_of(_asked_secret())] if secret else [])]
    with opened_store() as store:
        for one in asked:
            for_today = len(one) == DIGITS
            done = store.bans.lift(one) if lift else store.bans.add(one, for_today=for_today)
            click.echo(f"{_called(one)}: {_SAYS[lift, done]}")
        for one, _ in store.bans.all() if not asked else ():
            click.echo(_called(one))


def _called(digest: str) -> str:
    return f"{digest}, until midnight UTC" if len(digest) == DIGITS else f"secret with SHA-256 {digest}"


def _asked_secret() -> str:
    """The secret, which is no argument: those are seen by others of the machine, and kept in histories."""
    if sys.stdin.isatty():
        given: str = click.prompt("Secret", hide_input=True, err=True)
    else:
        given = sys.stdin.readline()
    if not given.strip():
        raise UsageError("no secret was given")
    return given.strip()
