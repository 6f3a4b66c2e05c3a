"""A revision of a git checkout, written into the data folder: the parser of a pull request beside the one before it.

The checkout is read only, by `git archive`: its files, its index and what is checked out stay as they are. A revision
is written once for each commit and folder of it, under the name of the entry that runs it. An interpreter that has the
checkout itself installed may import that all the same: an engine is asked where its modules came from, and refused.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from parsers.vocabulary.types import UsageError
from webapp.engines.entries import Entry
from webapp.settings import Settings

SECONDS = 300
_WORDS = 300  # characters of what git says
_SILENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}


class Revision(NamedTuple):
    """A revision that is written: its commit, and the folder that has what the given one had then."""

    commit: str
    folder: Path


def written_revision(settings: Settings, name: str, checkout: str, rev: str) -> Revision:
    """Write what a folder of a checkout had at a revision. Raises UsageError."""
    commit = _git(checkout, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}", rev=rev)
    inside = _git(checkout, "rev-parse", "--show-prefix").rstrip("/")
    folder = _folder(settings, name) / _part(commit, inside) / inside
    if folder.is_dir():
        return Revision(commit, folder)
    try:
        settings.make_data_dir()
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
            made = Path(beside, "made")
            made.mkdir()
            _archive(checkout, f"{commit}:{inside}", made)
            made.rename(folder)
    except (OSError, tarfile.TarError) as error:
        raise UsageError(f"--rev {rev}: {checkout} at {commit[:10]} cannot be written: {error}") from error
    return Revision(commit, folder)


def _part(commit: str, inside: str) -> str:
    """Each part of a commit has a folder of its own: in that of all of it, a part would be taken for the whole."""
    return f"{commit[:16]}-{hashlib.sha256(inside.encode()).hexdigest()[:8]}"


def forget_others(settings: Settings, name: str, path: str | None) -> None:
    """Remove the revisions that were written for an entry before, but for the one that has its path."""
    folder = _folder(settings, name)
    for one in folder.iterdir() if folder.is_dir() else ():
        if path is None or not Path(path).is_relative_to(one):
            shutil.rmtree(one, ignore_errors=True)


def runs_another(entry: Entry, sources: Sequence[str]) -> str:
    """What an engine runs in the place of its revision, with what is to be done about it; "" where it runs that.

    `sources` are where its outermost modules lie that did not come with the interpreter: one that the revision has and
    that lies elsewhere was imported in its place.
    """
    if entry.path is None or entry.checkout is None or entry.commit is None:
        return ""
    made, checkout = _real(entry.path), _real(entry.checkout)
    found = [*map(_real, sources)]
    outside = [one for one in found if not one.is_relative_to(made)]
    modules = [*map(_real, entry.modules)]
    others = [
        one for one in outside if one.is_relative_to(checkout) or any((there / one.name).exists() for there in modules)
    ]
    if len(outside) < len(found) and not others:
        return ""
    came = f"{others[0]} is imported, which is not of it" if others else "no module is imported from there"
    return (
        f"it does not run {entry.revision}: {came}; give with --path the folder of the checkout that has its modules "
        f"('python' in some projects), and a --python where the checkout is not installed in the place of it"
    )


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))


def _folder(settings: Settings, name: str) -> Path:
    return settings.data_dir.absolute() / "revisions" / name


def _archive(checkout: str, tree: str, folder: Path) -> None:
    """Links that lead out of the folder, and what is no file, are left out."""
    top = _git(checkout, "rev-parse", "--show-toplevel")
    with tempfile.TemporaryFile(dir=folder.parent) as file:
        _git(top, "archive", "--format=tar", tree, output=file)
        file.seek(0)
        with tarfile.open(fileobj=file) as found:
            found.extractall(folder, filter=_inside)  # noqa: S202 - the filter keeps all of it inside


def _inside(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    try:
        return tarfile.data_filter(member, folder)
    except tarfile.FilterError:
        return None


def _git(folder: str, *words: str, rev: str = "", output: IO[bytes] | int = subprocess.PIPE) -> str:
    """What git says. Raises UsageError with its words."""
    program = shutil.which("git")
    if program is None:
        raise UsageError("--rev: git is not installed here; it reads the revision")
    command = [program, "-C", folder, *words]
    try:
        done = subprocess.run(  # noqa: S603 - git, of the operator's own checkout
            command, stdout=output, stderr=subprocess.PIPE, env=os.environ | _SILENT, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"--rev: git took more than {SECONDS} seconds over {folder}") from error
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:_WORDS]
        raise UsageError(f"--rev: {said or f'{folder} has no revision {rev}'}")
    return (done.stdout or b"").decode("utf-8", "replace").strip()
