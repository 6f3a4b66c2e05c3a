"""A revision of a checkout is written beside it, and the checkout stays as it is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.vocabulary.types import UsageError
from webapp.engines import revisions
from webapp.engines.revisions import forget_others, written_revision
from webapp.settings import Settings

Git = Callable[..., str]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "python").mkdir(parents=True)
    return folder


@pytest.fixture
def git(checkout: Path) -> Git:
    """Git in the checkout, which has two commits."""

    def run(*words: str) -> str:
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(checkout), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    run("init", "-q")
    for text in ("first", "second"):
        (checkout / "python" / "mine.py").write_text(text)
        (checkout / "read.me").write_text(text)
        run("add", "-A")
        run("commit", "-q", "-m", text)
        run("tag", text)
    return run


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


def test_what_a_revision_had_is_written_and_the_checkout_stays(settings: Settings, checkout: Path, git: Git) -> None:
    (checkout / "python" / "mine.py").write_text("not committed")
    before = git("status", "--porcelain"), git("worktree", "list")
    found = written_revision(settings, "mine", str(checkout), "first")
    assert found.commit == git("rev-parse", "first")
    assert found.folder.parent == settings.data_dir / "revisions" / "mine"
    assert {file.name: file.read_text() for file in found.folder.rglob("*.*")} == {
        "mine.py": "first",
        "read.me": "first",
    }
    assert (git("status", "--porcelain"), git("worktree", "list")) == before


def test_of_a_folder_of_the_checkout_only_that_is_written(settings: Settings, checkout: Path, git: Git) -> None:
    found = written_revision(settings, "mine", str(checkout / "python"), "HEAD")
    assert [file.name for file in found.folder.iterdir()] == ["mine.py"]
    assert (found.folder.name, (found.folder / "mine.py").read_text()) == ("python", "second")


def test_a_part_of_a_revision_is_not_taken_for_all_of_it(settings: Settings, checkout: Path, git: Git) -> None:
    part = written_revision(settings, "mine", str(checkout / "python"), "HEAD").folder
    whole = written_revision(settings, "mine", str(checkout), "HEAD").folder
    assert {one.name for one in whole.iterdir()} == {"python", "read.me"}
    forget_others(settings, "mine", str(part))
    assert (part.exists(), whole.exists()) == (True, False)


def test_a_commit_is_written_once_and_others_are_forgotten(settings: Settings, checkout: Path, git: Git) -> None:
    first = written_revision(settings, "mine", str(checkout), "first")
    (first.folder / "read.me").write_text("kept")
    assert written_revision(settings, "mine", str(checkout), "first") == first
    assert (first.folder / "read.me").read_text() == "kept"
    second = written_revision(settings, "mine", str(checkout), "second")
    forget_others(settings, "mine", str(second.folder))
    assert (first.folder.exists(), second.folder.exists()) == (False, True)
    forget_others(settings, "mine", None)
    assert not second.folder.exists()
    forget_others(settings, "other", None)


def test_a_link_that_leads_out_is_left_out(settings: Settings, checkout: Path, git: Git) -> None:
    (checkout / "out").symlink_to("/etc")
    (checkout / "in").symlink_to("python")
    git("add", "-A")
    git("commit", "-q", "-m", "links")
    found = written_revision(settings, "mine", str(checkout), "HEAD").folder
    assert ((found / "out").is_symlink(), (found / "in" / "mine.py").read_text()) == (False, "second")


@pytest.mark.parametrize(
    ("folder", "rev", "said"),
    [
        ("checkout", "no-such", r"--rev: .*checkout has no revision no-such"),
        ("checkout", "--help", r"--rev: .* has no revision --help"),
        (".", "HEAD", r"--rev: fatal: not a git repository"),
        ("absent", "HEAD", r"--rev: fatal: cannot change to"),
        ("checkout/python", "bare", r"--rev: fatal: not a valid object name: \w+:python"),
    ],
)
def test_what_is_not_there_is_one_sentence(
    settings: Settings, checkout: Path, git: Git, folder: str, rev: str, said: str
) -> None:
    git("rm", "-r", "-q", "python")
    git("commit", "-q", "-m", "bare")
    git("tag", "bare")
    (checkout / "python").mkdir(exist_ok=True)
    with pytest.raises(UsageError, match=said):
        written_revision(settings, "mine", str(checkout.parent / folder), rev)


def test_without_git_and_with_one_that_hangs_it_is_said(
    settings: Settings, checkout: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revisions, "SECONDS", 0)
    with pytest.raises(UsageError, match=r"--rev: git took more than 0 seconds"):
        written_revision(settings, "mine", str(checkout), "first")
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(UsageError, match=r"--rev: git is not installed here"):
        written_revision(settings, "mine", str(checkout), "first")


def test_a_data_folder_that_cannot_be_written_is_said(settings: Settings, checkout: Path, git: Git) -> None:
    settings.data_dir.write_text("a file")
    with pytest.raises(UsageError, match="cannot create the data folder"):
        written_revision(settings, "mine", str(checkout), "first")
