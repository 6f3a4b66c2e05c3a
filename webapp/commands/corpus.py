"""`corpus`: make a corpus of generated outputs, or say what of a parser one never reached."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import click

from parsers.cases.jsontext import utf8
from parsers.cases.written.corpus_rows import Wanted, corpus_rows
from parsers.cases.written.faults import FAULTS
from parsers.cases.written.generated import KIT, Kit, kit_of
from parsers.vocabulary.types import UsageError
from webapp.commands.cover import cover
from webapp.commands.inputs import STDIN, read_json
from webapp.commands.progress_line import counted
from webapp.commands.words import count as counted_words

FORMATS = (
    "qwen,deepseek_v31,glm45_moe,harmony,qwen_coder,kimik2,mistral,minimax_m2,deepseek_v32,hunyuan_a13b"  # many kinds
)
_EVERY = 200  # rows, after which it is said how many there are
_SHARE = click.FloatRange(0, 1)


@click.group(no_args_is_help=True)
def corpus() -> None:
    """Make a corpus of generated outputs, or say what of a parser one never reached."""


corpus.add_command(cover)


@corpus.command()
@click.argument("file", metavar="FILE|-")
@click.option("--format", "formats", metavar="A,B,...", default=FORMATS, help="The formats, in turn.  [default: ten]")
@click.option("--count", type=click.IntRange(min=1), default=1_000, show_default=True, help="How many outputs.")
@click.option("--first", type=click.IntRange(min=0), default=0, show_default=True, help="The number of the first one.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same outputs.")
@click.option("--malformed", type=_SHARE, default=0.01, show_default=True, help="The share with a planted fault.")
@click.option("--truncated", type=_SHARE, default=0.0, show_default=True, help="The share that the length cuts off.")
@click.option("--fault", "faults", metavar="NAME", multiple=True, help="Plant only this fault. May be given again.")
@click.option("--tools", metavar="FILE", help="JSON file with the tools: a list of those of a request.")
@click.option("--words", type=click.IntRange(min=0), default=0, show_default=True,
              help="About how many words a text has; 0: a phrase.")  # fmt: skip
def make(file: str, formats: str, count: int, first: int, **given: Any) -> None:
    """Write generated outputs into FILE (.jsonl, or .jsonl.gz), or to standard output.

    Each is a message drawn from the tool schemas, written as its format writes it, and read back as it was meant; then
    faults are planted into a share of them, and their rows say which. Format, seed and number give the same output.
    """
    wanted = _wanted(tuple([name.strip() for name in formats.split(",") if name.strip()]), **given)
    made = 0
    with _written(file) as out, counted("outputs") as say:
        for made, row in enumerate(corpus_rows(wanted, first, count), 1):
            out.write(utf8(json.dumps(row, ensure_ascii=False) + "\n"))
            if made % _EVERY == 0:
                say(made)
    if file != STDIN:
        click.echo(f"{counted_words(made, 'output')} written to {file}", err=True)


def _wanted(
    formats: tuple[str, ...],
    *,
    seed: int,
    malformed: float,
    truncated: float,
    faults: tuple[str, ...],
    tools: str | None,
    words: int,
) -> Wanted:
    unknown = next((name for name in faults if name not in FAULTS), None)
    if unknown is not None:
        raise UsageError(f"--fault {unknown}: there is no fault of that name; there are {', '.join(FAULTS)}")
    if malformed + truncated > 1:
        raise UsageError("--malformed and --truncated are shares of one whole: together at most 1")
    if not formats:
        raise UsageError("--format: give the name of a format; `toolcall-inspector parsers` lists them")
    return Wanted(formats, seed, malformed, truncated, faults or tuple(FAULTS), _kit(tools, words))


def _kit(tools: str | None, words: int) -> Kit:
    if tools is None:
        return Kit(KIT.tools, words)
    found = read_json("--tools", tools)
    listed = found if isinstance(found, list) else [found]
    try:
        return kit_of([one for one in listed if isinstance(one, dict)], words)
    except UsageError as error:
        raise UsageError(f"--tools {tools}: {error}") from error


@contextmanager
def _written(file: str) -> Iterator[BinaryIO]:
    """The file, open for bytes. Raises UsageError where it cannot be written."""
    if file == STDIN:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        with Path(file).open("wb") as raw:
            if not file.endswith(".gz"):
                yield raw
                return
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:  # the same bytes at any time
                yield cast(BinaryIO, packed)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
