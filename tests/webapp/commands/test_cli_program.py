"""What holds for every command: help, exit codes, one line for every mistake, quiet endings."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import click
import pytest

from webapp import cli

Program = Callable[..., Any]
HEAVY = "alembic flask pydantic sqlalchemy tokenizers transformers waitress"


def run_python(root: Path, program: str, *, stdout: int | None = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=root, text=True, stdout=stdout, stderr=subprocess.PIPE)


@pytest.fixture
def root() -> Path:
    return Path(__file__).resolve().parents[3]


def test_help_and_mistakes_load_nothing_heavy(root: Path) -> None:
    done = run_python(root, "import sys\nfrom webapp.cli import run\nrun(['--help'])\nrun(['nothing'])\n"
                      f"print('loaded', sorted(set(sys.modules) & set('{HEAVY}'.split())))")  # fmt: skip
    assert done.stdout.endswith("loaded []\n")


def test_help_lists_every_command_with_the_first_sentence_of_its_own_help(program: Program) -> None:
    out = program("--help").out
    for name, place in cli.COMMANDS.items():
        found = cli.cli.get_command(click.Context(cli.cli), name)
        assert found is not None
        assert (found.help or "").splitlines()[0] == place.summary
        assert f"  {name} " in out


def test_a_shell_that_completes_words_learns_the_commands_and_their_options() -> None:
    context = click.Context(cli.cli)
    assert cli.cli.list_commands(context) == list(cli.COMMANDS)
    assert cli.cli.get_command(context, "nothing") is None


def test_version_is_one_line(program: Program) -> None:
    done = program("--version")
    assert (done.code, done.out.count("\n"), done.out.split()[0]) == (0, 1, "toolcall-inspector")


@pytest.mark.parametrize("args", [(), ("db",)])
def test_a_group_alone_shows_its_help_and_is_a_mistake(program: Program, args: tuple[str, ...]) -> None:
    done = program(*args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: toolcall-inspector")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("nothing",), "there is no command 'nothing'; there are serve, replay,"),
        (("replay",), "Missing argument 'FILE|-'. (see `toolcall-inspector replay --help`)"),
        (("replay", "-", "--steps"), "No such option '--steps'"),
        (("replay", "-", "--holdback", "x"), "Invalid value for '--holdback'"),
        (("replay", "nowhere.txt"), "nowhere.txt cannot be read: No such file"),
        (("replay", "a\x00b"), "cannot be read: "),
        (("replay", "."), ". is a folder; give a file"),
        (("check",), "Missing argument 'PATH...'"),
        (("export", "x.case.json"), "Missing option '--to'"),
        (("parsers", "nobody"), "there is no parser 'nobody'; valid parsers: "),
        (("parsers", "qwen", "llama"), "give one NAME"),
        (("parsers", "check"), "give one format file"),
        (("serve", "--port", "99999"), "Invalid value for '--port'"),
        (("db", "drop"), "No such command 'drop'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(program: Program, args: tuple[str, ...], words: str) -> None:
    done = program(*args)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("toolcall-inspector: ")
    assert words in done.err


def test_a_wrong_setting_is_a_mistake_too(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_PROT", "1")
    done = program("settings")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "did you mean TOOLCALL_INSPECTOR_PORT?" in done.err


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    assert cli.one_line("a\x1b[2J\n b\u202ec\udc80") == "a\\x1b[2J b\\u202ec\\udc80"


def test_an_interrupt_ends_without_words(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webapp.commands.replay.read_given", interrupt)
    done = program("replay", "-")
    assert (done.code, done.out, done.err.strip()) == (130, "", "")


def test_a_reader_who_goes_away_is_not_complained_about(root: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run_python(root, "from webapp.cli import main; main(['settings'])", stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (cli.READER_GONE, "")


def test_other_trouble_with_the_output_is_not_taken_for_a_reader_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("webapp.commands.listings.table", full)
    with pytest.raises(OSError, match="No space"):
        cli.run(["tokenizers"])


@pytest.mark.replays
def test_a_terminal_without_the_characters_gets_escapes(root: Path, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("Zürich → Bern", "utf-8")
    script = f"from webapp.cli import main; main(['replay', {str(tmp_path / 'x.txt')!r}])"
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([sys.executable, "-c", script], cwd=root, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert '"Zürich \\u2192 Bern"'.encode("latin-1") in done.stdout


def test_a_stream_without_an_encoding_is_left_as_it_is(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    assert program("nothing").code == 2
    assert errors.getvalue().startswith("toolcall-inspector: there is no command")


@pytest.mark.parametrize("origin", ["/elsewhere/parsers/__init__.py", None])
def test_a_foreign_parsers_package_is_refused(
    program: Program, monkeypatch: pytest.MonkeyPatch, origin: str | None
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: ModuleSpec(name, None, origin=origin))
    done = program("settings")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "not from this program" in done.err
