from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.vocabulary.types import UsageError
from webapp.page.library.query import LONGEST, MOST_BYTES, MOST_PARTS, query_of, toggled, wanted_of
from webapp.store.listings import FACETS, Wanted

# What is typed, and the substrings and filters that it asks for.
TYPED = [
    ("", (), ()),
    ("</tool", ("</tool",), ()),
    ('{"name": "get', ('{"name": "get',), ()),
    ("  two words ", ("two words",), ()),
    ("parser:qwen", (), (("parser", "qwen"),)),
    ("parser:qwen </tool verdict:text_lost", ("</tool",), (("parser", "qwen"), ("verdict", "text_lost"))),
    ('tag:"two words" tag:b', (), (("tag", "two words"), ("tag", "b"))),
    ('text:" \\n\\"x\\\\" rest', (' \n"x\\', "rest"), ()),
    ('text:"a" text:"b" text:"a"', ("a", "b"), ()),
    ("parser:a parser:a", (), (("parser", "a"),)),
    ("nothing:x", ("nothing:x",), ()),
    ('x"parser:qwen', ('x"parser:qwen',), ()),
    ('text:"open', ('"open',), ()),
    ('text:""', (), ()),
]


@pytest.mark.parametrize(("query", "texts", "facets"), TYPED)
def test_a_query_asks_for_substrings_and_filters(query: str, texts: tuple[str, ...], facets: tuple[str, ...]) -> None:
    assert wanted_of(query) == Wanted(texts, facets)  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.sampled_from(FACETS), st.text(min_size=1, max_size=20)), max_size=4, unique=True),
    st.lists(st.text(min_size=1, max_size=20), max_size=3, unique=True),
)
@pytest.mark.replays
def test_a_written_query_is_read_as_it_was_meant(facets: list[tuple[str, str]], texts: list[str]) -> None:
    found = wanted_of(query_of(facets, texts))  # type: ignore[arg-type]
    assert (found.facets, found.texts) == (tuple(facets), tuple(texts))


TOGGLED = [
    ("", "parser:llama"),
    ("parser:llama", ""),
    ("parser:qwen x", 'parser:llama text:"x"'),
    ("tag:a parser:llama", "tag:a"),
]


@pytest.mark.parametrize(("query", "after"), TOGGLED)
def test_a_filter_takes_the_place_of_the_one_before_or_goes(query: str, after: str) -> None:
    assert toggled(wanted_of(query), "parser", "llama") == after


def test_of_tags_several_hold_at_once() -> None:
    assert toggled(wanted_of("tag:a"), "tag", "b") == "tag:a tag:b"


# What is typed at the limit, what is typed beyond it, and what is said of that.
LIMITS = [
    ("tag:a " * 40 + " ".join(f"tag:{n}" for n in range(11)), " tag:z", "13 parts, and 12"),
    ("x" * 1_000, "x", "1,001 characters, and 1,000"),
    ('text:"' + "x" * 999 + '" y', "z", "1,001 characters, and 1,000"),
    ("\U0001f600" * 450, "x", "1,801 bytes in UTF-8, and 1,800"),
    ('text:"' + '\\"' * 1_000 + '"', " tag:x", "1,001 characters, and 1,000"),
    (" " * 3_000, " ", "3,001 characters, and 1,000"),
]


@pytest.mark.parametrize(("typed", "more", "said"), LIMITS)
def test_a_query_that_is_too_long_is_refused_and_never_cut(typed: str, more: str, said: str) -> None:
    wanted = wanted_of(typed)
    assert wanted_of(query_of(wanted.facets, wanted.texts)) == wanted, "what was taken is taken in its written form"
    with pytest.raises(UsageError, match=f"^This search is for {said} is the most: nothing was looked for.$"):
        wanted_of(typed + more)


def test_a_query_up_to_the_limit_fits_into_the_first_line_of_a_request() -> None:
    wide = (MOST_BYTES - LONGEST) // 3  # of four bytes, which are twelve in an address; a quote is six, with its escape
    letters = '"' * (LONGEST - wide) + "\U0001f600" * wide
    size = -(-LONGEST // MOST_PARTS)
    texts = [letters[at : at + size] for at in range(0, LONGEST, size)]
    texts = [one[:-1] + letter for one, letter in zip(texts, "abcdefghijkl", strict=True)]
    query = query_of((), texts)
    assert wanted_of(query).texts == tuple(texts)
    path = f"GET /library/results/{'e' * 40}?collection={'c' * 16}&before=1000000000&q={quote_plus(query)} HTTP/1.1"
    assert 7_500 < len(path) < 8_190
