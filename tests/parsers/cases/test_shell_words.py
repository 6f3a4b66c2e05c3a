"""A command is read by a shell as it was meant, and nothing in it acts on a terminal."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.export.shell_words import in_shell, printed, word_in_shell

words = st.text(st.sampled_from("a '\"\\$`!\n\t\u202e\x1b\x7f8é\u200b·") | st.characters(exclude_characters="\x00"))


@given(words)
def test_only_letters_that_a_terminal_shows_are_written(word: str) -> None:
    assert word_in_shell(word).replace("\n", "").replace("\t", "").isprintable()


@pytest.mark.parametrize("word", ["a", "it's", "", "a\nb", "-x", "né"])
def test_a_word_without_a_hidden_character_is_as_python_quotes_it(word: str) -> None:
    assert word_in_shell(word) == shlex.quote(word)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("word", ["a\u202eb8", "\x1b[31m'\\n$x`", "\udcff.json", "z\u200b::é\x7f"])
def test_bash_reads_the_word(word: str) -> None:
    done = subprocess.run(["bash", "-c", in_shell(["printf", "%s", word])], capture_output=True, check=True)
    assert done.stdout == word.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("text", ["a", "-n\u202e", "a\0b", "\0007'\\c%s\x1b\n\t", "-\0é\u200b\\0"])
def test_a_shell_prints_the_text(text: str, shell: str) -> None:
    if shutil.which(shell) is None or (shell == "sh" and "\0" not in text and not text.isprintable()):
        pytest.skip("there is no such shell, or it has no quotes for what is hidden")
    command = printed(text)
    assert command.replace("\n", "").replace("\t", "").isprintable()
    assert subprocess.run([shell, "-c", command], capture_output=True, check=True).stdout == text.encode()
