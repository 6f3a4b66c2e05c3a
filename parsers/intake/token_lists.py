"""Token ids without their text: lists, lists of lists, bare numbers, printed tensors.

    [1, 2]  [[1], [2, 3]]  1, 2, 3  tensor([1, 2])  token_ids=[1, 2]

Ids of a list of lists came with one delta each; the rows of a tensor are outputs of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parsers.intake.jsonread import value_at
from parsers.intake.literals import Literal, Named, left_out, literal_at
from parsers.intake.model import Recognised, Warn, number
from parsers.intake.spelled import LOG_LINE, ends_at, start_of, values_in
from parsers.vocabulary.types import Recording

LARGEST = 2_000_000  # no vocabulary has as many entries
_BARE = re.compile(r"\s*+\[?\s*+\d++(?:[ \t\r\n,]++\d++){2,}+[\s,]*+\]?\s*+\Z")
_FIRST = re.compile(r"(?:(?:\w++\.)*+(?:tensor|array)\()?[\[(][\[(\s]*+-?(?:\d|\]|\.\.\.)")
_KEY = re.compile(r"[({'\"]?(?:output_)?(?:token_ids|ids)['\"]? ?[=:] ?+(?=[\[(]|\w+\()")
_IN_LOG = re.compile(r"[^\n]{0,400}?\b(?:output_)?token_ids ?[=:] ?+(?=[\[(])")
_ARRAYS = ("tensor", "torch.tensor", "array", "np.array", "numpy.array")
_TOKENIZER = "Choose the model's tokenizer: it turns the ids into text."


@dataclass(slots=True)
class Ids:
    """Checked ids of one output, how many came with each delta (None: not known), and what was wrong with them."""

    ids: tuple[int, ...]
    counts: tuple[int, ...] | None
    warnings: list[Warn]


def checked(parts: Sequence[Sequence[int]], *, chunked: bool) -> Ids:
    """The ids of all parts, without those that cannot be ids."""
    kept = [[one for one in part if 0 <= one < 2**31] for part in parts]
    ids = tuple([one for part in kept for one in part])
    warnings = []
    if dropped := sum(map(len, parts)) - len(ids):
        words = f"{number(dropped, 'number')} below 0 or beyond 32 bits left out: padding, perhaps, but no token id."
        warnings.append(Warn("not_an_id", words))
    if large := sum(one > LARGEST for one in ids):
        words = f"{number(large, 'id')} above {LARGEST:,}: no vocabulary is that large."
        warnings.append(Warn("id_out_of_range", words))
    return Ids(ids, tuple([len(part) for part in kept]) if chunked else None, warnings)


def read_token_ids(body: str) -> Recognised | None:
    """Token ids in any of the ways people paste them."""
    at = start_of(body)
    if _FIRST.match(body, at):
        found = _printed(body, at)
        if found is not None:
            return found
    if _BARE.match(body, at):
        ids = [_number(word) for word in body[at:].strip("[] \t\r\n,").replace(",", " ").split()]
        return _recognised([[ids]], "It is whole numbers, separated by commas or spaces.", chunked=False)
    return _keyed(body)


def _number(word: str) -> int:
    return int(word) if len(word) < 12 else 2**31


def _printed(body: str, at: int) -> Recognised | None:
    """One list, or several, one after the other."""
    exact = value_at(body, at)
    whole = exact is not None and ends_at(body, exact[1])
    values = [Literal(exact[0], exact[1])] if exact and whole else values_in(body)
    if not values:
        return None
    cut = not values[-1].whole
    rows = [_rows(one.value) for one in values]
    if None in rows or not any(any(row) for row in rows if row):
        return None
    if any(map(_elided, values)):
        return _shortened()
    known = [row for row in rows if row is not None]
    if len(known) == 1:
        tensor = isinstance(values[0].value, Named)
        nested = _is_nested(values[0].value)
        if tensor and len(known[0]) > 1:
            return _recognised([[row] for row in known[0]], "It is a printed tensor, a row for each output.", cut=cut)
        why = "It is a list of lists of whole numbers." if nested else "It is a list of whole numbers."
        return _recognised([known[0]], why, chunked=nested and not tensor, cut=cut)
    if all(len(row) == 1 for row in known):
        why = f"It is {number(len(known), 'list')} of whole numbers, one after the other."
        made = _recognised([[row[0] for row in known]], why, chunked=True, cut=cut)
        words = f"It is {number(len(known), 'list')}, one after the other: taken for the deltas of one output."
        made.warnings += (Warn("lists_joined", words),)
        return made
    return _recognised(known, "They are lists of lists of whole numbers, one for each output.", chunked=True, cut=cut)


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(part, list) for part in value)


def _rows(value: Any) -> list[list[int]] | None:
    """The lists of numbers in a list, a list of lists or a tensor; None where it is anything else."""
    if isinstance(value, Named):
        value = value.args[0] if value.called and value.name in _ARRAYS and value.args else None
    if not isinstance(value, list):
        return None
    rows = [[row] if left_out(row) else row for row in value] if _is_nested(value) else [value]
    if not all(isinstance(row, list) and all(type(one) is int or left_out(one) for one in row) for row in rows):
        return None
    return rows


def _elided(found: Literal) -> bool:
    return any(left_out(one) for row in _rows(found.value) or () for one in row)


def _shortened() -> Recognised:
    return Recognised(
        kind="token_ids",
        title="token ids with some left out",
        advice="Print all of them, for example with .tolist(), and paste that.",
        why=("It is a list of whole numbers that holds `...`.",),
        warnings=(Warn("ids_cut", "Ids are left out where `...` stands."),),
    )


def _keyed(body: str) -> Recognised | None:
    """Ids after `token_ids=` at the beginning, or in the first line of a log; anything may follow."""
    at = len(body) - len(body.lstrip())
    mark = _KEY.match(body, at) or (_IN_LOG.match(body, at) if LOG_LINE.match(body, at) else None)
    found = literal_at(body, mark.end()) if mark else None
    rows = _rows(found.value) if found else None
    if found is None or not rows or not any(rows):
        return None
    if _elided(found):
        return _shortened()
    nested = _is_nested(found.value)
    return _recognised([rows], "Whole numbers follow `token_ids`.", chunked=nested, cut=not found.whole)


def _recognised(
    outputs: Sequence[Sequence[Sequence[int]]], why: str, *, chunked: bool = False, cut: bool = False
) -> Recognised:
    made = [checked(rows, chunked=chunked) for rows in outputs]
    several = len(made) > 1
    count = sum(len(one.ids) for one in made)
    warnings = [warn for one in made for warn in one.warnings]
    if cut:
        warnings.append(Warn("broken_off", "The list has no closing bracket: ids at its end are missing."))
    return Recognised(
        kind="token_ids",
        title=f"{number(count, 'token id')} in {number(len(made), 'list')}" if several else number(count, "token id"),
        advice=_TOKENIZER,
        usable=True,
        outputs=tuple([
            Recording(None, "token_ids", f"list {place}" if several else "", ids=one.ids, counts=one.counts)
            for place, one in enumerate(made, 1)
        ]),
        why=(why,),
        warnings=tuple(dict.fromkeys(warnings)),
    )  # fmt: skip
