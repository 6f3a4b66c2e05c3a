"""SentencePiece models: the ids are those of SentencePiece itself, trained models and real ones."""

from __future__ import annotations

import base64
import json
import random
import struct
from dataclasses import asdict
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tokenizers import Tokenizer, models, normalizers

from tests.webapp.vocabularies.models import member
from tests.webapp.vocabularies.models import sentencepiece as model
from webapp.vocabularies.double_array import MAX_CHARSMAP, require_charsmap
from webapp.vocabularies.files import rebuild
from webapp.vocabularies.piece_table import added_of_table, piece_table, spelling_of_table
from webapp.vocabularies.piece_tokenizer import PieceTokenizer
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.sanitize import sanitize, tokenizer_text
from webapp.vocabularies.spelling import of_data

BITS = (
    *(
        "def f(x):",
        "    ",
        "  ",
        " ",
        "return",
        "Hello",
        "world",
        "Grüße",
        "你好",
        "🙂",
        "e\u0301",
        "ﬁ",
        "\uff21\uff22",
    ),
    *(
        "½",
        "\u212b",
        '{"name": "f"}',
        "<tool_call>",
        "\t",
        "\u3000",
        "▁",
        "▁▁",
        "the quick brown fox",
        "snake_case",
        "123",
    ),
)
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
SMALL = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("▁", -1.0, NORMAL), ("a", -2.0, NORMAL), ("b", -3.0, NORMAL)]
TRAINED: dict[str, dict[str, Any]] = {
    "usual": {},
    "bytes and symbols": {
        "byte_fallback": True,
        "user_defined_symbols": ["<tool_call>", "XY"],
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
    "no blank in front": {"add_dummy_prefix": False, "byte_fallback": True, "split_by_whitespace": False},
    "blank behind": {"treat_whitespace_as_suffix": True, "control_symbols": ["[TOOL_CALLS]"]},
}


def texts(count: int) -> list[str]:
    rng = random.Random(5)
    return [
        "".join(rng.choice(BITS) + " " * rng.choice((0, 0, 1)) for _ in range(rng.randint(1, 12))) for _ in range(count)
    ]


def trained(kind: str, **more: Any) -> bytes:
    sentencepiece.set_min_log_level(2)
    made, size = BytesIO(), 520 if more.get("byte_fallback") else 260
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts(1_500)), model_writer=made, vocab_size=size, model_type=kind,
        hard_vocab_limit=False, character_coverage=0.98, minloglevel=2, **more,
    )  # fmt: skip
    return made.getvalue()


def differing(data: bytes, tried: list[str]) -> list[str]:
    """The texts that are cut otherwise than by the library."""
    own, library = PieceTokenizer(rebuild(data)), sentencepiece.SentencePieceProcessor(model_proto=data)
    return [text for text in tried if own.encode_batch([text])[0].ids != library.encode(text)]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("name", TRAINED)
def test_a_trained_model_gives_the_ids_of_sentencepiece(name: str, kind: str) -> None:
    assert differing(trained(kind, **TRAINED[name]), [*texts(150), "", " ", "  "]) == []


@pytest.mark.replays
@pytest.mark.parametrize("name", ["tokenizer.model.v1", "mistral_instruct_tokenizer_240323.model.v3"])
def test_a_real_model_gives_the_ids_of_sentencepiece(name: str) -> None:
    spec = find_spec("mistral_common")
    assert spec is not None
    assert spec.origin is not None
    data = (Path(spec.origin).parent / "data" / name).read_bytes()
    assert differing(data, texts(300)) == []


def test_markers_are_found_in_the_text_and_only_its_beginning_has_a_blank() -> None:
    tokenizer = PieceTokenizer(rebuild(model(SMALL)))
    (cut,) = tokenizer.encode_batch(["ab<s>a b?!<s>"])
    assert cut.ids == [2, 3, 4, 1, 3, 2, 4, 0, 1]
    assert cut.offsets == [(0, 0), (0, 1), (1, 2), (2, 5), (5, 6), (6, 7), (7, 8), (8, 9), (10, 13)]
    assert (tokenizer.id_to_token(4), tokenizer.id_to_token(5), tokenizer.token_to_id("b")) == ("b", None, 4)
    assert tokenizer.get_vocab_size() == 5


def test_unused_pieces_are_taken_apart_again() -> None:
    rows = [*SMALL, ("ab", -1.5, UNUSED), ("aba", -1.2, UNUSED), ("c", -4.0, NORMAL), ("bc", -1.0, UNUSED)]
    data = model(rows, {3: 2}, {3: 0})
    assert differing(data, ["ab", "abab", "aba", "abc", "bcab", "cab"]) == []


def test_a_table_tells_how_it_is_spelled_and_which_pieces_are_tokens_by_themselves() -> None:
    table = rebuild(model([*SMALL, ("<0x41>", 0.0, BYTE), ("<x>", 0.0, USER)], {3: 2, 35: 1}))
    spelling = spelling_of_table(table)
    assert (spelling.raw("▁a"), spelling.raw("<0x41>"), spelling.strip) == (b" a", b"A", 1)
    assert [(token["id"], token["special"]) for token in added_of_table(table)] == [(0, True), (1, True), (6, False)]
    bare = spelling_of_table(rebuild(model(SMALL, {24: 1}, {5: 0})))
    assert (bare.raw("▁"), bare.strip, bare.fallback) == ("▁".encode(), 0, False)


@pytest.mark.parametrize("trainer", [{}, {44: "?"}])
def test_what_is_unknown_decodes_as_the_library_has_it(trainer: dict[int, Any]) -> None:
    data = model(SMALL, trainer)
    spelling = of_data(json.loads(json.dumps(asdict(spelling_of_table(rebuild(data))))))
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    text = "".join([spelling.raw(SMALL[at][0]).decode() for at in (2, 3, 0, 4)])
    assert text.removeprefix(" ") == library.decode([2, 3, 0, 4])


@pytest.mark.replays
@pytest.mark.parametrize("kind", [1, 2])
def test_many_symbols_of_a_models_own_are_found_as_the_library_finds_them(kind: int) -> None:
    own = [(f"<{number}>", 0.0, USER) for number in range(12_000)]
    bytes_ = [(f"<0x{byte:02X}>", -20.0, BYTE) for byte in range(256)]
    data = model([*SMALL, *own, ("<", 0.0, USER), ("<1", 0.0, USER), *bytes_], {3: kind, 35: 1}, {4: 0})
    assert differing(data, ["a<11999>b<1<12>", "<", "<<1>a", "<12000>", "b <3>< 4>"]) == []


WRONG = {
    "cut off": (model(SMALL)[:-9], "the file is not whole"),
    "endless number": (model(SMALL) + b"\xff" * 11, "the file is not whole"),
    "words": (model(SMALL, {3: 3}), "cuts by words; BPE and Unigram are read"),
    "other": (model(SMALL, {3: 9}), "cuts by an unknown way"),
    "no unknown": (model([("a", -1.0, NORMAL)]), "no piece of the model stands for what is unknown"),
    "twice": (model([*SMALL, ("a", 0.0, NORMAL)]), "the pieces 3 and 5 are both 'a'"),
    "empty": (model([*SMALL, ("", 0.0, NORMAL)]), "piece 5 has 0 characters"),
    "kind": (model([*SMALL, ("x", 0.0, 9)]), "piece 5 has no score or no kind"),
    "score": (model([*SMALL, ("x", float("nan"), NORMAL)]), "piece 5 has no score or no kind"),
    "score of eight bytes": (model(SMALL) + member(1, member(1, "x") + b"\x11" + b"\0" * 8), "a score .* is no number"),
    "no text": (model(SMALL) + member(1, member(1, b"\xff")), "a piece of the model is no text"),
    "number": (model(SMALL) + member(1, 3), "a number where a message stands"),
    "normal form": (model(SMALL, {}, {2: b"\xff\xff\0\0abcd"}), "the table of the normal form is broken"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_model_that_is_wrong_is_refused_in_one_sentence(name: str) -> None:
    data, message = WRONG[name]
    with pytest.raises(VocabularyError, match=message):
        rebuild(data)


def test_a_model_without_pieces_is_none() -> None:
    with pytest.raises(VocabularyError, match="from 1 to"):
        piece_table("bpe", [])


UNENDED = base64.b64encode(struct.pack("<I", 4) + b"\0" * 4 + b"abc").decode()
LONG = "A" * (MAX_CHARSMAP // 3 * 4 + 8)


@pytest.mark.parametrize(("charsmap", "message"), [("?", "is not base64"), (LONG, "at most"), (UNENDED, "broken")])
def test_a_normal_form_is_checked(charsmap: str, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        require_charsmap(charsmap)


def test_a_tokenizer_json_may_have_the_normal_form_of_sentencepiece() -> None:
    table = rebuild(trained("unigram"))
    made = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("f", -2.0), ("i", -2.0)], 0))
    made.normalizer = normalizers.Precompiled(base64.b64decode(table["charsmap"]))
    data = json.loads(made.to_str())
    again = Tokenizer.from_buffer(tokenizer_text(sanitize(data)))
    assert again.encode("ﬁ").ids == made.encode("ﬁ").ids == [2, 3]
    data["normalizer"]["precompiled_charsmap"] = "AAAA"
    with pytest.raises(VocabularyError, match=r"^/normalizer/precompiled_charsmap: the table"):
        sanitize(data)
