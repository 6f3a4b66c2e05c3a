"""Decode policies against the libraries and the plain rules of servers, on real vocabularies and small ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.decoding import Decode, Decoded, DecodePolicy, decode_pieces
from tests.amount import examples
from tests.parsers.decoding import servers
from tests.parsers.decoding.vocabularies import Vocabulary, byte_fallback, deepseek, embedded, tekken

pytestmark = pytest.mark.replays

MAKE: dict[str, Callable[[], Vocabulary]] = {
    "embedded": cache(embedded),
    "byte_fallback": cache(byte_fallback),
    "deepseek": cache(deepseek),
    "tekken": cache(tekken),
}
TEXTS = (
    'Grüße, 你好 世界!\n<tool_call>{"name": "f"}',
    "👩‍👩‍👧‍👦 family 🇩🇪 flags\n\n  two  spaces ",
    "𠀋 astral, e\u0301 combining, नमस्ते ไทย",
    "\ufffd in the text and at its end \ufffd",
    "plain words only, then [TOOL_CALLS] and a newline\n",
)
POLICIES: tuple[DecodePolicy, ...] = ("vllm_fast", "vllm_slow", "sglang", "text_streamer")


def sequences(vocabulary: Vocabulary) -> st.SearchStrategy[list[int]]:
    """Ids as they come: any at all, pieces of text cut anywhere, markers in the middle, and mostly bytes."""
    known = sorted(vocabulary.raw)
    anything = st.lists(st.sampled_from(known), max_size=12)
    written = st.sampled_from(TEXTS).map(vocabulary.encode)
    cut = st.tuples(written, st.integers(0, 40), st.integers(0, 60)).map(lambda t: t[0][t[1] : t[1] + t[2]])
    markers = st.lists(st.sampled_from(sorted(vocabulary.markers)), max_size=3)
    singles = st.sampled_from([one for one in known if len(vocabulary.raw[one]) == 1])
    bytes_ = st.lists(singles, max_size=8)
    parts = st.lists(st.one_of(anything, cut, markers, bytes_, characters(vocabulary)), max_size=5)
    return parts.map(lambda found: [one for part in found for one in part])


def characters(vocabulary: Vocabulary) -> st.SearchStrategy[list[int]]:
    """Whole characters as single bytes, which a following byte may turn around."""
    single = {raw[0]: one for one, raw in vocabulary.raw.items() if len(raw) == 1 and one not in vocabulary.markers}
    if vocabulary.decoder == "byte_fallback":
        base = id_of(vocabulary, "<0x00>")
        single = {byte: base + byte for byte in range(256)}
    texts = st.sampled_from(["你", "好a", " ", "é\n", "😀", "\ufffd", "你 "])
    return texts.map(lambda text: [single[byte] for byte in text.encode() if byte in single])


def id_of(vocabulary: Vocabulary, string: str) -> int:
    """The id of a vocabulary string that is there."""
    found = vocabulary.tokenizer.token_to_id(string)
    assert found is not None
    return found


def steps(found: Decoded) -> list[str]:
    """The text of each step."""
    text = "".join([piece.text for piece in found.pieces])
    ends = found.due if found.due is not None else list(accumulate([len(piece.text) for piece in found.pieces]))
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def expected(
    vocabulary: Vocabulary, policy: DecodePolicy, ids: Sequence[int], *, skip: bool, prompt: list[int]
) -> list[str]:
    """The text of each step by the server's own rules."""

    def decode(some: Sequence[int]) -> str:
        return vocabulary.tokenizer.decode(list(some), skip_special_tokens=skip)

    if policy == "vllm_fast":
        return servers.decode_stream(vocabulary.tokenizer, ids, skip=skip, prompt=prompt)
    if policy == "vllm_slow":
        return servers.offsets(decode, ids, prompt)
    return servers.sglang(decode, ids, prompt) if policy == "sglang" else servers.text_streamer(decode, ids)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", list(MAKE))
def test_a_policy_gives_the_steps_of_its_server(name: str, policy: DecodePolicy) -> None:
    vocabulary = MAKE[name]()

    @examples(30)
    @given(ids=sequences(vocabulary), skip=st.booleans(), primed=st.booleans())
    def check(ids: list[int], skip: bool, primed: bool) -> None:
        tail = "Hello" if primed and policy != "text_streamer" else ""
        prompt = vocabulary.encode("Hello") if tail else []
        if vocabulary.decoder == "byte_fallback" and tail:
            prompt = [id_of(vocabulary, "Hello")]
        decode = Decode(policy=policy, skip_special_tokens=skip)
        found = decode_pieces(vocabulary.pieces(ids), decode, decoder=vocabulary.decoder, prompt_tail=tail)
        assert steps(found) == expected(vocabulary, policy, ids, skip=skip, prompt=prompt)

    check()


@pytest.mark.parametrize("name", list(MAKE))
def test_the_exact_text_is_that_of_the_tokenizer(name: str) -> None:
    vocabulary = MAKE[name]()

    @examples(30)
    @given(ids=sequences(vocabulary), skip=st.booleans())
    def check(ids: list[int], skip: bool) -> None:
        found = decode_pieces(
            vocabulary.pieces(ids), Decode(skip_special_tokens=skip), decoder=vocabulary.decoder, prompt_tail=""
        )
        whole = vocabulary.tokenizer.decode(ids, skip_special_tokens=skip)
        same = "".join([piece.text for piece in found.pieces]) == whole
        assert same or any(facts.revised for facts in found.tokens)
        assert found.due is None

    check()


def test_a_blank_behind_a_skipped_token_does_not_tell_whether_the_decoder_takes_one() -> None:
    vocabulary = MAKE["byte_fallback"]()
    ids = [id_of(vocabulary, string) for string in ("<unk>", "<0x20>", "<0x80>")]
    decode = Decode(policy="sglang", skip_special_tokens=True)
    found = decode_pieces(vocabulary.pieces(ids), decode, decoder="byte_fallback", prompt_tail="Hello")
    prompt = [id_of(vocabulary, "Hello")]
    assert steps(found) == expected(vocabulary, "sglang", ids, skip=True, prompt=prompt) == ["", " ", "\ufffd\ufffd"]
