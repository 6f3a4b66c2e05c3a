"""`make test-engines`: sets engines up, checks them, searches for known bugs, and writes docs/engines.md.

`python -m tests.engines FOLDER [--only NAME,...] [--python SET=PATH]... [--print] [--lock]`. Exit 1 where an engine
that is there does not keep the protocol, fewer than ten known bugs are found, an error is said of a right parser, the
test that a known bug is exported as does not fail by that bug, or one for the crate tool-parser is not compiled or says
nothing.
"""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path

from tests.engines.builds import COMMANDS, TOKENIZERS, interpreter
from tests.engines.emitted import emitted
from tests.engines.engine_sets import SETS, EngineSet
from tests.engines.engines_page import PAGE, Tried, page
from tests.engines.library import passes
from tests.engines.locking import lock
from tests.engines.program import Inspector, Searched, found, searches, tools
from tests.engines.rust_crate import compiled, exported_tests
from webapp.engines.entered import use_engines
from webapp.runs.runner import Runner
from webapp.settings import get_settings

SUITES = ("vllm", "sglang")  # what is exported is run for these
CRATE = "tool_parser"  # and compiled for this one
ENOUGH = 10  # known bugs


def main() -> int:
    """Try them all."""
    parser = ArgumentParser(prog="python -m tests.engines", description="Try the parsers of real engines.")
    parser.add_argument("folder", type=Path, help="where they are set up; kept between runs")
    parser.add_argument("--only", default="", metavar="NAME,...", help="these engines alone; the page is not written")
    parser.add_argument(
        "--python", action="append", default=[], metavar="SET=PATH", help="an interpreter that is there"
    )
    parser.add_argument("--print", action="store_true", help="print the page and write nothing")
    parser.add_argument("--lock", action="store_true", help="lock the sets again, and nothing else")
    given = parser.parse_args()
    only = [one for one in given.only.split(",") if one]
    if given.lock:
        lock(only)
        return 0
    folder = given.folder.resolve()
    inspector = Inspector(folder / "data")
    there = dict(one.split("=", 1) for one in given.python)
    tried = [_tried(one, folder, inspector, there) for one in SETS if not only or one.name in only]
    known = {one.set.name for one in tried if one.card is not None}
    bugs, right = (_searched(name, known) for name in ("bugs", "right"))
    unsaid = [line for name in SUITES if name in known for line in _emitted(name, bugs, folder)]
    if not only or CRATE in only:
        unsaid += _crate(folder)
    text = page(tried, bugs, right)
    if only or given.print:
        print(text)
    else:
        PAGE.write_text(text, "utf-8")
    return _judged(tried, bugs, right, whole=not only) or bool(unsaid)


def _tried(one: EngineSet, folder: Path, inspector: Inspector, there: dict[str, str]) -> Tried:
    missing = [need for need in one.needs if shutil.which(need) is None]
    if missing:
        return Tried(one, absent=f"there is no {missing[0]}")
    print(f"{one.name}: setting up", file=sys.stderr)
    try:
        entry = _entry(one, folder, there)
    except RuntimeError as error:
        return Tried(one, absent=str(error))
    done = inspector.run("engines", "add", one.name, *entry)
    if done.returncode:
        return Tried(one, absent=done.stderr.strip())
    checked = inspector.run("engines", "check", one.name)
    wrong = [line for line in checked.stdout.splitlines() if line.startswith("wrong")]
    settings = get_settings()
    engines = use_engines(settings)
    card = engines.card(one.name)
    print(f"{one.name}: {card.name} {card.version}", *wrong, sep="\n  ", file=sys.stderr)
    came = passes(settings, one.name, card, tools())
    engines.close()
    return Tried(one, card, "", "kept" if not wrong else f"{len(wrong)} rules not kept", came)


def _entry(one: EngineSet, folder: Path, there: dict[str, str]) -> list[str]:
    """The options of `engines add`."""
    if one.command:
        command, place = COMMANDS[one.command](folder)
        return ["--command", command, "--folder", place]
    python = there.get(one.python) or str(interpreter(folder, one.python))
    tokenizer = ["--tokenizer", TOKENIZERS[one.tokenizer](folder)] if one.tokenizer else []
    variable = ["--env", f"{one.variable}={TOKENIZERS['o200k'](folder)}"] if one.variable else []
    return ["--python", python, "--adapter", one.adapter, *tokenizer, *variable]


def _searched(name: str, known: set[str]) -> list[Searched]:
    settings = get_settings()
    engines = use_engines(settings)
    done = []
    for search in searches(name):
        if search.parser.partition(":")[0] in known:
            one = found(search, settings, tools())
            print(f"{search.parser}: {one.errors} errors; {one.failed or one.headline}", file=sys.stderr)
            done.append(one)
    engines.close()
    return done


def _emitted(suite: str, bugs: list[Searched], folder: Path) -> list[str]:
    """The bugs of an engine whose exported tests do not say what they should; each is printed."""
    settings = get_settings()
    engines = use_engines(settings)
    cases = [one.smallest for one in bugs if one.search.parser.startswith(f"{suite}:") and one.smallest is not None]
    python = engines.entries()[suite].python or ""
    told = [case for case in cases if case.expect is not None]
    found = emitted(suite, told, python, Runner(settings, keep=False), folder / "emitted" / suite)
    engines.close()
    wrong = [f"{suite}:{one.name}: fails with {one.fails!r}, same {one.same!r}" for one in found if not one.right]
    print(f"{suite}: {len(found) - len(wrong)} of {len(found)} exported tests fail as they should", file=sys.stderr)
    print(*wrong, sep="\n", file=sys.stderr)
    return wrong


def _crate(folder: Path) -> list[str]:
    """What is wrong with the tests for the crate tool-parser; each is printed."""
    if shutil.which("cargo") is None or shutil.which("dpkg-deb") is None:
        print(f"{CRATE}: absent, for there is no cargo, or no Debian", file=sys.stderr)
        return []
    try:
        passes = compiled(folder, exported_tests(Runner(get_settings(), keep=False)))
    except RuntimeError as error:
        wrong = [str(error)]
    else:
        read = [name for name, passed in passes.items() if passed and name.endswith("_call")]
        wrong = [f"{CRATE}: {name} passes" for name, passed in passes.items() if passed and name.endswith("_wrong")]
        wrong += [f"{CRATE}: it reads no call of ours"] * (not read)
        others = ", ".join([name for name in passes if name.endswith("_call") and name not in read])
        print(f"{CRATE}: {len(passes)} tests compiled; it reads {len(read)} calls, not {others}", file=sys.stderr)
    print(*wrong, sep="\n", file=sys.stderr)
    return wrong


def _judged(tried: list[Tried], bugs: list[Searched], right: list[Searched], *, whole: bool) -> int:
    failed = [f"{one.set.name} does not keep the protocol" for one in tried if one.card and one.checked != "kept"]
    reported = sum(bool(one.errors and one.search.known) for one in bugs)
    if whole and reported < ENOUGH:
        failed.append(f"{reported} known bugs were found; {ENOUGH} are wanted")
    failed += [f"{one.search.parser}: {one.headline}" for one in right if one.errors or one.failed]
    print(*failed, sep="\n", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
