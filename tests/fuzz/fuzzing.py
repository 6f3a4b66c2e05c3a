"""A run of the fuzzer: each target gets its share of the executions in a process of its own; what came is counted."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from parsers.formats.model import builtin_formats, row_ids
from tests.bench.outputs import ROOT
from tests.fuzz.targets import TARGETS, Target

HANGS = 60  # seconds for one input
MOST_MEMORY = 4_096  # MB
CHILD = "tests.fuzz.child"
BYTES = 8  # of a count

_CORPUS = re.compile(r"\bcov: (\d+) ft: (\d+) corp: (\d+)/")


class Counted(NamedTuple):
    """What came of a target: executions, seconds of wall time, seeds, branches reached, inputs kept because they
    reached something new, rows of formats that fired and how many there are, and the places of faults."""

    target: str
    executions: int
    seconds: float
    seeds: int
    branches: int
    inputs: int
    rows: tuple[int, int] | None
    faults: tuple[str, ...]


def fuzzed(name: str, folder: Path, executions: int, seconds: float) -> Counted:
    """Fuzz one target. `folder` keeps what it found for the next run; faults of an earlier run go."""
    target, place = TARGETS[name], folder / name
    seeds = _prepare(target, place)
    flags = [
        *(f"-runs={executions}", f"-max_total_time={max(1, int(seconds))}", f"-max_len={target.most}"),
        *(f"-timeout={HANGS}", f"-rss_limit_mb={MOST_MEMORY}", f"-dict={place / 'words'}"),
        *(f"-artifact_prefix={place / 'faults'}/", f"-report_slow_units={HANGS}"),
    ]
    start = time.monotonic()
    with (place / "log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            [sys.executable, "-m", CHILD, name, str(place), *flags], cwd=ROOT, stdout=log, stderr=log, check=False
        )
    return _counted(name, place, seeds, time.monotonic() - start, done.returncode)


def _prepare(target: Target, place: Path) -> int:
    """Write the seeds and the words of a target; says how many seeds there are."""
    for folder in ("seeds", "found", "faults"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    for old in (*(place / "seeds").iterdir(), *(place / "faults").iterdir()):
        old.unlink()
    for seed in target.seeds():
        if len(seed) <= target.most:
            (place / "seeds" / hashlib.sha256(seed).hexdigest()[:32]).write_bytes(seed)
    (place / "words").write_text(dictionary(target.words()), "ascii")
    return len([*(place / "seeds").iterdir()])


def dictionary(words: Iterable[str]) -> str:
    """Words as libFuzzer reads them: one a line in quotes, every byte of it in hexadecimal digits."""
    encoded = dict.fromkeys(word.encode("utf-8", "replace")[:60] for word in words if word)
    return "".join([f'"{_digits(word)}"\n' for word in encoded])


def _digits(word: bytes) -> str:
    return "".join([f"\\x{byte:02x}" for byte in word])


def _counted(name: str, place: Path, seeds: int, seconds: float, code: int) -> Counted:
    """Read what a child left. One that did not end as it should is a fault as well."""
    counts = (place / "counts").read_bytes()
    executions, rows = (int.from_bytes(counts[at : at + BYTES], sys.byteorder) for at in (0, BYTES))
    said = _CORPUS.findall((place / "log").read_text("utf-8", "replace")) or [("0", "0", "0")]
    all_rows = sum([len(row_ids(fmt)) for fmt in builtin_formats().values()])
    faults = sorted(one.name for one in (place / "faults").iterdir())
    if code and not faults:
        faults = [f"ended with {code}"]
    reached = (rows, all_rows) if name == "parsers" else None
    return Counted(name, executions, seconds, seeds, int(said[-1][0]), int(said[-1][2]), reached, tuple(faults))
