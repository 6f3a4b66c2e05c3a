from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.page.library.query import MOST_PARTS, query_of, toggled, wanted_of
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


def test_a_query_has_an_end() -> None:
    assert len(wanted_of(" ".join(f"tag:{n}" for n in range(40))).facets) == MOST_PARTS
    assert len(wanted_of("x" * 5_000).texts[0]) == 1_000
