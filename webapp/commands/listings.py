"""`tokenizers` and `settings`: what there is to choose from."""

from __future__ import annotations

import click

from webapp.commands.words import table


@click.command()
def tokenizers() -> None:
    """List the tokenizers.

    Each with where its vocabulary comes from and its number of tokens, without the markers of a format.
    """
    from webapp.tokenizers import list_tokenizers

    rows = [[info["name"], info["kind"], f"{info['vocab_size']:,}"] for info in list_tokenizers()]
    click.echo("\n".join(table([["name", "kind", "tokens"], *rows])))


@click.command()
def settings() -> None:
    """List the settings and their values.

    Each with its default and what it is for. A setting is an environment variable.
    """
    from webapp.settings import get_settings, setting_rows

    for row in setting_rows(get_settings()):
        click.echo(f"{row.env}={row.value}")
        click.echo(f"    {row.description} Default: {row.default}.")
