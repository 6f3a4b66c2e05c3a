"""`tokenizers` and `settings`: what there is to choose from."""

from __future__ import annotations

import click

from webapp.commands.words import table


@click.command()
def tokenizers() -> None:
    """List the tokenizers: name, where the vocabulary comes from, number of tokens without markers."""
    from webapp.tokenizers import list_tokenizers

    rows = [[info["name"], info["kind"], f"{info['vocab_size']:,}"] for info in list_tokenizers()]
    click.echo("\n".join(table([["name", "kind", "tokens"], *rows])))


@click.command()
def settings() -> None:
    """List the settings: the variable, its value now, its default, and what it is for."""
    from webapp.settings import get_settings, setting_rows

    for row in setting_rows(get_settings()):
        click.echo(f"{row.env}={row.value}")
        click.echo(f"    {row.description} Default: {row.default}.")
