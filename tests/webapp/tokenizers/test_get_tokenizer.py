"""Choosing a tokenizer: names, marker tables, caching, what is refused."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.formats.model import load_format
from parsers.vocabulary.types import Piece, UsageError
from webapp.tokenizers import MarkerState, get_tokenizer, list_tokenizers, markers_of

FORMAT = load_format(
    {
        "schema": 1,
        "name": "demo",
        "title": "Demo",
        "initial": "IDLE",
        "terminals": {"OPEN": "<call>", "STOP": "<|stop|>", "COMMA": ";;"},
        "tokens": {"<call>": {"special": False}, "<|stop|>": {"special": True, "id": 128009}},
        "states": {"IDLE": {"text": "content"}},
    }
)


def test_the_markers_follow_the_base_vocabulary_in_a_stable_order() -> None:
    tokenizer = get_tokenizer(markers={"<b>": True, "<a>": False, "<c>": False})
    assert dict(tokenizer.marker_ids) == {"<a>": 2048, "<b>": 2049, "<c>": 2050}
    assert tokenizer.info["vocab_size"] == 2051


def test_a_formats_tokens_are_its_markers() -> None:
    assert markers_of(FORMAT) == {"<call>": False, "<|stop|>": True}
    tokenizer = get_tokenizer(format=FORMAT)
    assert tokenizer is get_tokenizer("embedded", {"<|stop|>": True, "<call>": False})
    assert tokenizer.label == "Embedded, 2,048 + 2"


def test_given_markers_stand_before_the_formats() -> None:
    assert get_tokenizer(markers={}, format=FORMAT) is get_tokenizer()
    assert get_tokenizer().label == "Embedded, 2,048"


def test_a_tokenizer_is_built_once_for_all_threads() -> None:
    markers = {"<once>": False}
    with ThreadPoolExecutor(8) as pool:
        built = list(pool.map(lambda _: get_tokenizer(markers=markers), range(32)))
    assert len({id(tokenizer) for tokenizer in built}) == 1


def test_threads_share_a_tokenizer() -> None:
    tokenizer = get_tokenizer(format=FORMAT)
    texts = [f"<call>{n} 東京 🙂<|stop|>" * 50 for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        pieces = list(pool.map(tokenizer.pieces, texts))
    assert ["".join([p.text for p in row]) for row in pieces] == texts


def test_the_fingerprint_depends_on_the_marker_table_alone() -> None:
    tables: list[dict[str, bool]] = [{}, {"<a>": False}, {"<a>": True}, {"<a>": False, "<b>": False}]
    prints = [get_tokenizer(markers=table).fingerprint for table in tables]
    assert len(set(prints)) == len(tables)
    assert all(len(fingerprint) == 64 for fingerprint in prints)
    assert get_tokenizer(markers={"<b>": False, "<a>": False}).fingerprint == prints[3]


def test_the_marker_ids_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        get_tokenizer(format=FORMAT).marker_ids["<new>"] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("markers", "message"),
    [
        ({"": False}, "a marker is empty"),
        ({"\ud800": False}, "lone surrogate"),
        ({"x" * 129: True}, "has 129 characters: at most 128"),
        ({f"<{n}>": True for n in range(257)}, "257 markers are too many"),
        ({"Ġ": False}, "spells the bytes 20 that way"),
    ],
)
def test_markers_no_vocabulary_can_hold_are_refused(markers: dict[str, bool], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        get_tokenizer(markers=markers)


def test_a_marker_the_vocabulary_already_has_keeps_its_id() -> None:
    tokenizer = get_tokenizer(markers={"{": False})
    assert tokenizer.info["vocab_size"] == 2048
    assert [(p.text, p.kind) for p in tokenizer.pieces('{"a')] == [("{", "added"), ('"', "text"), ("a", "text")]


def test_an_unknown_name_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="no tokenizer 'gpt'; choose one of: embedded, characters"):
        get_tokenizer("gpt")


def test_the_list_is_what_the_api_answers() -> None:
    rows = list_tokenizers()
    assert [(row["name"], row["kind"], row["vocab_size"]) for row in rows[:2]] == [
        ("embedded", "embedded", 2048),
        ("characters", "none", 0),
    ]
    assert [(row["realism"], row["decoder"]) for row in rows[:2]] == [("demo", "byte_level"), ("none", "byte_level")]
    for row in rows[:2]:
        assert get_tokenizer(row["name"]).info == row
        assert (get_tokenizer(row["name"]).label, get_tokenizer(row["name"]).fingerprint) == (
            row["label"],
            row["fingerprint"],
        )


def test_own_tokenizers_tell_how_they_write_a_marker() -> None:
    own = get_tokenizer(markers={"<call>": False})
    assert own.marker_state("<call>") == MarkerState("one", (2048,))
    assert own.marker_state("<other>").state == "several"
    assert get_tokenizer("characters").marker_state("<call>") == MarkerState("absent", ())


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_characters_have_one_piece_each_and_no_ids(text: str) -> None:
    pieces = get_tokenizer("characters").pieces(text)
    assert pieces == tuple(Piece(char, None, char.encode(), "text") for char in text)


def test_characters_know_no_ids() -> None:
    tokenizer = get_tokenizer("characters", {"<call>": False})
    assert (tokenizer.label, tokenizer.info["vocab_size"], dict(tokenizer.marker_ids)) == ("Characters, no ids", 0, {})
    assert tokenizer.token(65).kind == "unknown"
    assert tokenizer.decode([65, 66]) == ""
    assert tokenizer.pieces_of([65]) == (Piece("", 65, None, "unknown", recorded=True),)
    with pytest.raises(UsageError, match="'characters' has no ids"):
        tokenizer.encode("a")


def test_characters_refuse_lone_surrogates() -> None:
    with pytest.raises(UsageError, match=r"U\+D800\) at character 1"):
        get_tokenizer("characters").pieces("a\ud800")


def test_importing_the_package_loads_no_transformers() -> None:
    code = "import sys; from webapp import tokenizers; tokenizers.get_tokenizer().pieces('x'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert "tokenizers" in loaded
    assert not loaded & {"transformers", "huggingface_hub", "torch", "numpy"}
