"""The command line: which commands there are, and what every one of them is held to.

A command is imported when it is called, so that help and mistakes answer at once. Whatever goes wrong because of what
a person gave is one line on standard error (what, where, what to do) and exit code 2, never a traceback.

====  =======================================================================================
exit  meaning
====  =======================================================================================
0     done, whatever was found in an output
1     a check failed (`check`, `find`, `parsers check`), or `redact` could not keep the verdict
2     what was given cannot be used
130   interrupted
141   whoever read the output has gone; nothing is said about it
====  =======================================================================================
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click

from parsers.vocabulary.types import FormatError, UsageError

PROGRAM = "toolcall-inspector"
BAD_INPUT = 2
INTERRUPTED = 130
READER_GONE = 141
_WHITE = re.compile(r"\s+")
HOME = Path(__file__).resolve().parent.parent


class _Place(NamedTuple):
    """Says where a command is, and its line in the list of commands."""

    module: str
    summary: str


COMMANDS = {
    "serve": _Place("serve", "Start the inspector on this machine."),
    "replay": _Place("replay", "Replay one model output and say what came of it."),
    "find": _Place("find", "Search for a chunking that breaks the parser; exit 1 on an error."),
    "check": _Place("check", "Run case files; exit 1 when one fails."),
    "export": _Place("replay", "Write a case as a file for another tool."),
    "sweep": _Place(
        "sweep", "Replay the outputs of a corpus and count what is wrong with them; exit 1 where anything is."
    ),
    "corpus": _Place("corpus", "Make a corpus of generated outputs, or say what of a parser one never reached."),
    "redact": _Place("redact", "Replace the words of a case while it shows the same failure."),
    "parsers": _Place("parsers", "List the parsers, show one, or check a format file."),
    "engines": _Place("engines", "Enter engines that are installed elsewhere, list and check them."),
    "attend": _Place("attend", "Check cases for a program that starts this one, such as the pytest plugin."),
    "tokenizers": _Place("listings", "List the tokenizers."),
    "library": _Place("library", "Import cases into the library, find some, and write them out again."),
    "settings": _Place("listings", "List the settings and their values."),
    "db": _Place("db", "Look after the database of shared cases."),
}


class _Program(click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = getattr(import_module(f"webapp.commands.{COMMANDS[cmd_name].module}"), cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            raise click.UsageError(f"there is no command {args[0]!r}; there are {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A reader who has gone (`| head`) ends it quietly, before click makes an error of it."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(READER_GONE) from None
        return result


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from webapp.release import installed_version

        click.echo(f"{PROGRAM} {installed_version()}")
        ctx.exit()


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version,
              help="Show the version and exit.")  # fmt: skip
def cli() -> None:
    """See what a parser makes of a model's raw output, delta by delta: reasoning, content and tool calls."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the program and end the process."""
    sys.exit(run(args))


def run(args: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code. `args` default to those of the process."""
    _escape_what_cannot_be_printed()
    try:
        _require_own_parsers()
        result = cli.main(args, PROGRAM, standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.message, err=True)
        return BAD_INPUT
    except click.ClickException as error:
        return _refuse(error.format_message() + _hint(error))
    except (UsageError, FormatError) as error:
        return _refuse(str(error))
    return result if isinstance(result, int) else 0


def _require_own_parsers() -> None:
    """Refuse to run with a `parsers` package that is not ours: the name is common, and the first one found wins."""
    spec = find_spec("parsers")
    found = Path(spec.origin).resolve().parent if spec and spec.origin else None
    if found != HOME / "parsers":
        raise UsageError(
            f"the package `parsers` comes from {found}, not from this program ({HOME / 'parsers'}); "
            "install the inspector into an environment of its own, and start it by its console script"
        )


def one_line(text: str) -> str:
    """The text on one line, with what a terminal would not show (or would obey) spelled out. Blanks stay as they are: a
    finding may be about one."""
    line = _WHITE.sub(lambda match: match[0] if not match[0].strip(" ") else " ", text).strip()
    return "".join([char if char.isprintable() else char.encode("unicode_escape").decode() for char in line])


def _refuse(message: str) -> int:
    click.echo(f"{PROGRAM}: {one_line(message)}", err=True)
    return BAD_INPUT


def _hint(error: click.ClickException) -> str:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return f" (see `{ctx.command_path} --help`)" if ctx is not None else ""


def _escape_what_cannot_be_printed() -> None:
    """A terminal that lacks a character gets its escape instead of an exception."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
