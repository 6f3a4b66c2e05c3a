"""What was observed of somebody else's parser: its states, declared or derived, and what each attribute was last."""

from __future__ import annotations

import pytest

from parsers.vocabulary.observed import Attribute, Move, Observed, ObservedStep, Table, brief


@pytest.mark.parametrize(
    ("state", "short"),
    [("in_call", "in_call"), ("a+b", "a +1"), ("a+b+c+d", "a +3"), ("+", "+"), ("a+", "a+"), ("UNKNOWN", "UNKNOWN")],
)
def test_a_state_that_is_made_of_attributes_is_short_in_narrow_places(state: str, short: str) -> None:
    assert brief(state) == short


def observed(begun: dict[str, str], *steps: dict[str, str]) -> Observed:
    """A replay whose steps set these attributes of class P."""
    made = [ObservedStep(tuple([Attribute(f"P.{name}", None, value) for name, value in one.items()])) for one in steps]
    return Observed({f"P.{name}": value for name, value in begun.items()}, made)


@pytest.mark.parametrize(
    ("found", "states"),
    [
        (observed({}), []),
        (observed({}, {}, {}), ["UNKNOWN", "UNKNOWN"]),
        (
            observed({"_in_call": "False"}, {}, {"_in_call": "True"}, {}, {"_in_call": "False"}),
            ["no_flag", "in_call", "in_call", "no_flag"],
        ),
        (
            observed({"a": "False", "set": "True"}, {}, {"a": "True"}, {"b": "True"}),
            ["no_flag", "a", "a+b"],
        ),
        (observed({"set": "False"}, {"set": "True"}, {}), ["set", "set"]),  # the first step sets up: no state begins
        (observed({}, {"calls[0]": "1"}, {}, {"calls[0]": "2", "calls[1]": "1"}), ["calls", "calls", "calls"]),
        (
            observed({}, {"text": "1"}, {"text": "2"}, {"text": "3", "name": "f"}, {"text": "4"}),
            ["UNKNOWN", "UNKNOWN", "name", "name"],
        ),
    ],
)
def test_a_state_is_derived_from_what_is_true_or_changed(found: Observed, states: list[str]) -> None:
    assert not found.declared
    assert found.states() == states


def test_a_declared_state_is_taken_as_it_is() -> None:
    found = Observed({"P.a": "True"}, [ObservedStep(state="CALL"), ObservedStep()])
    assert (found.declared, found.states()) == (True, ["CALL", "UNKNOWN"])


def test_each_attribute_has_its_last_value_and_the_step_that_set_it() -> None:
    found = observed({"a": "0", "b": "0"}, {"a": "1"}, {}, {"a": "2"})
    assert found.values(0) == {"P.a": ("0", 0), "P.b": ("0", 0)}
    assert found.values(2) == {"P.a": ("1", 1), "P.b": ("0", 0)}
    assert found.values(3)["P.a"] == ("2", 3)


def test_a_list_whose_items_stand_by_themselves_is_left_out() -> None:
    assert list(observed({"calls": "[]"}, {"calls[0]": "1"}).values(1)) == ["P.calls[0]"]


def test_the_states_of_a_table_begin_with_the_first() -> None:
    table = Table("B", (Move("A", "x", "B"), Move("A", "y", "C")))
    assert table.states == ["B", "A", "C"]


@pytest.mark.parametrize(("name", "short"), [("P.a.b", "a.b"), ("alone", "alone")])
def test_an_attribute_has_a_name_without_its_class(name: str, short: str) -> None:
    assert Attribute(name, None, "1").short == short
