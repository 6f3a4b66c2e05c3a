"""`db clients`: who stored how much today, for whoever runs the server."""

from __future__ import annotations

from dataclasses import asdict

import click

from webapp.commands.kept_cases import opened_store
from webapp.commands.words import table
from webapp.commands.written import print_json


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
