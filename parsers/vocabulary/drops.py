"""The causes for which text reaches nobody, and for which a call that was begun is none: a closed list.

Each cause knows its words and the policy that decides about it. Reports print the words; nothing reads them back. Who
asks for the contract behind a loss asks `DropReason.policy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, unique


@unique
class Cause(Enum):
    """A cause: its words, with a place for a detail, and the key of the policy that decides about it, if one does."""

    LOST = "lost"
    UNSAID = "no reason given"

    # the output ends inside a call
    CUT = "cut off before its end", "truncated_call"
    CUT_TAG = "cut off: it may begin a closing tag", "truncated_call"
    UNCLOSED_VALUE = "its value has no closing tag", "unclosed_value"
    CUT_WORDS = "cut off: it is no JSON", "truncated_call"
    CUT_AFTER_CLOSING = "cut off: the arguments were closed before it", "truncated_call"
    CUT_CALL = "the output cuts the call off", "truncated_call"

    # arguments with characters that no value has
    KEY_WITHOUT_VALUE = "a key without a value"
    NO_KEY = "text where a key should be"
    BETWEEN_ELEMENTS = "text between elements"
    BETWEEN_PARAMETERS = "text between parameters"
    BETWEEN_MARKERS = "text between markers"
    TAG_CLOSES_NOTHING = "a closing tag that closes nothing"
    TAG_AT_OBJECT = "a parameter's tag at a JSON object"
    SURPLUS_CLOSER = "surplus closing bracket after the arguments"
    SURPLUS_BRACKET = "surplus {} bracket in the arguments"
    SURPLUS_DELIMITER = "surplus string delimiter after the arguments"
    UNREPAIRABLE = "structural repair: it cannot be closed"

    # white space and separators
    REASONING_TAIL = "white space at the end of reasoning"
    BLANK_AT_CALL = "white space around a call"
    SEPARATOR_AT_CALL = "white space or a separator around a call"
    AFTER_CALL = "text after a call (llama_content is upstream_engine)"

    # a call's id and name
    ANOTHER_ID = "another call id follows"
    NO_CALL_WAITS = "it belongs to a call, and none is open that waits for it"
    TURN_ENDS_IN_NAME = "a token that ends the turn stands in its name"
    SPACE_IN_NAME = "a name has no white space inside"
    NUMBER_FOR_NAME = "its header ends in a number without a colon, and names no tool"
    NEVER_NAMED = "the call was never named"
    REASONING_ENDS_FIRST = "reasoning ends before it is whole"
    NO_NAME = "what follows is no name of a tool"
    NO_PART = "what follows is no part of a call"
    UNKNOWN_SPECIAL = "special token that the format does not use"

    # a whole call
    STATED = "{}"  # as the note of a row says, or the parser itself
    NOT_A_CALL = "it is not a call"
    NOT_ONE_OBJECT = "the arguments are not one JSON object", "invalid_call"
    AGAINST_SCHEMA = "it {}, by the schema of its tool", "invalid_call"
    MALFORMED_CALL = "its markup is not the format's", "malformed_call"
    NO_ARGUMENTS = "it has a name, and nothing for its arguments", "missing_arguments"
    NOT_ALL_VALID = "a call is malformed and llama_content is seed_literal"
    UNDECLARED = "{} is not a declared tool", "unknown_tool"
    CALL_TO_UNDECLARED = "call to {}, which is not a declared tool", "unknown_tool"
    NOT_NAMED = "{} is not the tool that the request names", "unknown_tool"
    ARGUMENTS_NOT_ONE_OBJECT = "its arguments are not one JSON object", "invalid_call"
    LACKS_REQUIRED = "it lacks what {}"
    INVALID = "invalid call: {}"
    REJECTED = "rejected call: {}"
    FOLLOWS_MALFORMED = "it follows malformed structure (recovery is fail)", "recovery"
    SKIPPED = "it belongs to a call that is skipped", "recovery"
    NO_READING = "no reading of it gives a call"
    OVER_BUDGET = "more than {} characters were held without a decision"

    # other parsers than a table
    FIELD = "field {}"
    NO_FIELD = "no field of the template takes text here"
    FIELD_EDGE = "white space at the edge of a field, which the template strips"
    GAVE_UP = "the parser gave up inside it"
    NOT_DECODED = "left out by the decode policy"

    def __init__(self, words: str, policy: str | None = None) -> None:
        self.words = words
        self.policy = policy


@dataclass(frozen=True, slots=True)
class DropReason:
    """A cause with what it is about. `chosen_by` is the policy responsible, where it is not the cause's own."""

    cause: Cause
    detail: str = ""
    chosen_by: str | None = None

    @property
    def words(self) -> str:
        """The reason as reports print it: part of a sentence, without a full stop."""
        return self.cause.words.replace("{}", self.detail)

    @property
    def policy(self) -> str | None:
        """Key of the policy that makes this a contract and not a fault, or None."""
        return self.chosen_by or self.cause.policy

    def within(self, cause: Cause, *, by: str | None = None) -> DropReason:
        """This reason as the detail of another cause. Its own policy goes before `by`, and that before the other's."""
        return DropReason(cause, self.words, self.policy or by)


def stated(words: str) -> DropReason:
    """A reason in the words of a row's note, or of a parser of another kind."""
    return DropReason(Cause.STATED, words)


LOST, UNSAID, CUT = DropReason(Cause.LOST), DropReason(Cause.UNSAID), DropReason(Cause.CUT)
