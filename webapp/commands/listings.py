"""`tokenizers` and `settings`: what there is to choose from."""

from __future__ import annotations

import click

from webapp.commands.words import table
from webapp.commands.written import print_json

FINGERPRINT = 16  # digits shown


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the list as the API does.")
def tokenizers(as_json: bool) -> None:
    """List the tokenizers.

    Each with where its vocabulary comes from and its number of tokens, without the markers of a format; whether a real
    model cuts text like it; its decoder; and its fingerprint. What is not known before it is loaded is `-`.
    """
    from webapp.tokenizers import list_tokenizers

    found = list_tokenizers()
    if as_json:
        print_json(found, indent=2)
        return
    rows = [
        [
            info["name"],
            info["kind"],
            f"{info['vocab_size']:,}" if info["vocab_size"] else "-",
            info["realism"],
            info["decoder"],
            info["fingerprint"][:FINGERPRINT] or "-",
        ]
        for info in found
    ]
    click.echo("\n".join(table([["name", "kind", "tokens", "realism", "decoder", "fingerprint"], *rows])))


@click.command()
def settings() -> None:
    """List the settings and their values.

    Each with its default and what it is for. A setting is an environment variable.
    """
    from webapp.settings import get_settings, setting_rows

    for row in setting_rows(get_settings()):
        click.echo(f"{row.env}={row.value}")
        click.echo(f"    {row.description} Default: {row.default}.")
