"""A command is read by a shell as it was meant, and nothing in it acts on a terminal."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.export.shell_words import in_shell, word_in_shell

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
