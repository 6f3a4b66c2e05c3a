"""`engines`: enter somebody's own engine, list those entered, check one, print the worker."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import click

from parsers.vocabulary.types import UsageError
from webapp.cli import one_line
from webapp.commands.engine_option import placed_entry
from webapp.commands.words import count, table
from webapp.engines.conformance import conformance
from webapp.engines.engine_host import EngineHost
from webapp.engines.entered import entered, unknown
from webapp.engines.entries import ADAPTERS, WORKER, Entry, check_name, file_of, keep_card, write_entry
from webapp.engines.recognised import adapter_for
from webapp.engines.revisions import forget_others, written_revision
from webapp.settings import Settings, get_settings

FAILED = 1
_NOT_LOADED = ("__init__", "adapter_installed")  # files beside the worker that it does not ask for
_EMPTY = "SOURCES: dict[str, str] = {}"


@click.group(no_args_is_help=True)
def engines() -> None:
    """Enter engines that are installed elsewhere, list and check them.

    An engine is entered once, in engines.toml; a case, a command and the page then know it by its name.
    """


@engines.command()
@click.argument("name")
@click.option("--python", metavar="PATH", help="The interpreter that has the engine, 3.9 or newer.")
@click.option("--adapter", metavar="ADAPTER", help="How it is called.  [default: NAME, else what the interpreter has]")
@click.option("--class", "own", metavar="MODULE:CLASS", help="A parser class of your own.")
@click.option("--plugin", metavar="FILE", help="A file that is loaded as vLLM's --tool-parser-plugin.")
@click.option("--path", metavar="FOLDER", help="Where its interpreter finds modules besides, such as a checkout.")
@click.option("--rev", metavar="REV", help="A revision of the git checkout --path, which is written and run instead.")
@click.option("--command", metavar="LINE", help="The command of a worker that speaks the protocol, instead.")
@click.option(
    "--folder", metavar="FOLDER", help="Where it is started.  [default: here, if --command names a file here]"
)
@click.option("--env", multiple=True, metavar="KEY=VALUE", help="A variable of its environment. May be given again.")
@click.option("--tokenizer", metavar="PATH", help="The tokenizer, for an engine that asks for a whole one.")
@click.option("--memory", type=int, metavar="MB", help="What its process may keep.  [default: 4000]")
@click.option("--seconds", type=float, metavar="S", help="What one replay may take.  [default: 10]")
@click.option("--start", type=float, metavar="S", help="What it may take to say who it is.  [default: 120]")
def add(name: str, **options: Any) -> None:
    """Enter an engine: start it, ask who it is, and write it into engines.toml.

    One of the same name is replaced; a branch is then as it is now. Only what is entered is ever run. Adapters: vllm,
    sglang, lmdeploy, mlx, harmony, mistral, transformers, vllm_rust.
    """
    check_name(name)
    settings = get_settings()
    options = _revised(settings, name, options)
    if options["plugin"]:
        options["adapter"] = options["adapter"] or "vllm"
    if options["python"] and not (options["adapter"] or options["own"] or options["command"] or name in ADAPTERS):
        options["adapter"] = adapter_for(name, options["python"])
    entry = _entry(name, options)
    replaces = (entered(settings).entries().get(name) or entry) != entry
    host = EngineHost(name, entry)
    try:
        card = host.card()
    finally:
        host.close()
    if card.tokenizer == "needed" and entry.tokenizer is None:
        raise UsageError(f"engine {name} asks for a whole tokenizer: give it with --tokenizer PATH")
    file = write_entry(settings, name, entry)
    if replaces:
        click.echo(f"{name}: replaces the entry of that name", err=True)
    keep_card(settings, name, entry, card)
    forget_others(settings, name, entry.path)
    many = count(len(card.names("tool")), "parser"), count(len(card.names("reasoning")), "reasoning parser")
    at = f" at {entry.revision}" * bool(entry.revision)
    plugged = f"; the plugin registers {', '.join(card.plugged)}" * bool(card.plugged)
    click.echo(f"{name}: {f'{card.name} {card.version}'.strip()}{at}, {many[0]}, {many[1]}{plugged}; written to {file}")


@engines.command("list")
def list_entered() -> None:
    """List the engines that are entered, with what is known of them. None is started."""
    found = entered(get_settings())
    rows = []
    for name, card in found.listed().items():
        entry = found.entries()[name]
        what = "not asked yet" if card is None else f"{card.name} {card.version}".strip()
        what += f" at {entry.revision}" * bool(entry.revision)
        many = "" if card is None else count(len(card.parsers), "parser")
        rows.append([name, what, many, shlex.join(entry.command or (entry.python or "",))])
    click.echo("\n".join(table(rows)) if rows else f"none; `engines add` writes {file_of(get_settings())}")
    for name, card in found.listed().items():
        if card is not None:
            click.echo(f"\n{name}: {', '.join(card.names('tool'))}")
            if card.names("reasoning"):
                click.echo(f"  reasoning: {', '.join(card.names('reasoning'))}")


@engines.command()
@click.argument("name", metavar="NAME[:PARSER]")
def check(name: str) -> int:
    """Play a script at the worker of an engine and say what of the protocol it does not keep; exit 1 then.

    NAME:PARSER plays it at one of its parsers, NAME at the first.
    """
    name, _, parser = name.partition(":")
    found = entered(get_settings()).entries()
    if name not in found:
        raise UsageError(unknown(name, found))
    host = EngineHost(name, found[name])
    wrong, played = 0, list[str]()
    try:
        for kept in conformance(host, parser, told=played.append):
            wrong += bool(kept.wrong)
            word, said = ("wrong", kept.wrong) if kept.wrong else ("note", kept.note) if kept.note else ("ok", "")
            click.echo(f"{word:<6} {f'{kept.rule} {one_line(said)}'.strip()}")
    finally:
        host.close()
    called = ":".join([name, *played])
    click.echo(f"{called}: {'keeps the protocol' if not wrong else count(wrong, 'rule is', 'rules are') + ' not kept'}")
    return FAILED if wrong else 0


@engines.command()
def worker() -> None:
    """Print the worker and its adapters as one file, for a container or another machine.

    It is started as `python -u FILE ADAPTER`, by the standard library alone; enter that with `--command`.
    """
    click.echo(one_file(), nl=False)


def one_file() -> str:
    """The worker with the text of the files in it that it may load."""
    others = [file for file in sorted(WORKER.parent.glob("*.py")) if file.stem not in (WORKER.stem, *_NOT_LOADED)]
    sources = {file.stem: file.read_text("utf-8") for file in others}
    return WORKER.read_text("utf-8").replace(_EMPTY, f"SOURCES: dict[str, str] = {sources!r}", 1)


def _revised(settings: Settings, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options with the folder that a revision was written to in the place of its checkout. Raises UsageError."""
    path, rev = options["path"], options["rev"]
    if rev is None:
        return options
    if path is None or options["command"] is not None:
        raise UsageError("--rev: give the interpreter with --python and the checkout with --path")
    check_name(name)
    made = written_revision(settings, name, path, rev)
    checkout = _place(path)
    places = {"path": str(made.folder), "checkout": str(checkout), "commit": made.commit}
    plugin = options["plugin"] and _place(options["plugin"])
    if plugin and plugin.is_relative_to(checkout):
        places["plugin"] = str(made.folder / plugin.relative_to(checkout))
    return {**options, **places}


def _place(path: str) -> Path:
    return Path(os.path.normpath(Path(path).absolute()))


def _entry(name: str, options: dict[str, Any]) -> Entry:
    """The entry of these options."""
    values = {key: value for key, value in options.items() if value}
    if "own" in values:
        values["class"] = values.pop("own")
    if "command" in values:
        values["command"] = shlex.split(values["command"])
        if any(os.path.isfile(word) and not os.path.isabs(word) for word in values["command"]):
            values.setdefault("folder", str(Path.cwd()))
    variables = [one.partition("=") for one in values.pop("env", ())]
    if any(not equals for _, equals, _ in variables):
        raise UsageError("--env: give a variable as KEY=VALUE")
    if variables:
        values["environment"] = {key: value for key, _, value in variables}
    entry = placed_entry(name, values)
    if entry.plugin and not Path(entry.plugin).is_file():
        raise UsageError(f"--plugin: there is no file {entry.plugin}")
    return entry
