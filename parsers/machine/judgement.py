"""What policies say of a call that is whole: which wait for that, whether it stands, and what is left of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from parsers.arguments.undeclared import declared_arguments, lacks
from parsers.formats.model import Format
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.json_values import is_object
from parsers.vocabulary.types import Context

# Policies that are in force where the format lists them, and what holds elsewhere.
_OF_THE_FORMAT = {
    "recovery": "content",
    "rejected_call": "text",
    "missing_arguments": "empty",
    "json_values": "by_schema",
    "malformed_call": "read",
    "undeclared_arguments": "keep",
}
_GIVING_BACK = frozenset({"text", "drop"})


class Judgement:
    """The policies of a format about calls, and the tools that a request declares by name. `waits`: a call is held
    until it is whole. `misses`: one without anything for its arguments is not what the format writes."""

    def __init__(self, fmt: Format, policy: Mapping[str, str], context: Context) -> None:
        self.policy = {**policy, **{key: usual for key, usual in _OF_THE_FORMAT.items() if key not in fmt.policies}}
        self._parameters = {tool.name: tool.parameters or {} for tool in context.tools}
        told = {self.policy[key] for key in ("truncated_call", "missing_arguments")}
        usual = [self.policy[key] for key in ("invalid_call", "malformed_call", "undeclared_arguments")]
        self.misses = "missing_arguments" in fmt.policies
        self.waits = bool(told & _GIVING_BACK) or usual != ["lenient", "read", "keep"]

    def declared(self, name: str, arguments: Callable[[], str]) -> str | None:
        """What is left of the arguments of a call; None where that is all of them."""
        how = self.policy["undeclared_arguments"]
        return None if how == "keep" else declared_arguments(arguments(), self._parameters.get(name, {}), how)

    def fault(
        self, name: str, arguments: Callable[[], str], *, cut: bool, written: bool, malformed: bool
    ) -> DropReason | None:
        """Return why a call with a name is none; None for one that is good enough. `cut`: the output ends inside it.
        `written`: anything stands there for its arguments. `malformed`: its markup is not the format's."""
        if cut and self.policy["truncated_call"] in _GIVING_BACK:
            return DropReason(Cause.CUT_CALL)
        if self.policy["missing_arguments"] != "empty" and not written:
            return DropReason(Cause.NO_ARGUMENTS)
        if self.policy["malformed_call"] == "reject" and malformed:
            return DropReason(Cause.MALFORMED_CALL)
        how = self.policy["invalid_call"]
        if how == "lenient":
            return None
        if not is_object(text := arguments()):
            return DropReason(Cause.NOT_ONE_OBJECT)
        fault = lacks(text, self._parameters.get(name, {})) if how == "by_schema" else None
        return None if fault is None else DropReason(Cause.AGAINST_SCHEMA, fault)

    def recovery(self, reason: DropReason, *, marked: bool) -> str:
        """What follows where a call is rejected: the policy recovery, which is not for text that no marker said to be a
        call. Where its markup is dropped, the rest of the call is, too."""
        if not marked and reason.cause is Cause.NEVER_NAMED:
            return "content"
        drops = self.policy["rejected_call"] == "drop" and reason.cause not in (Cause.CUT_CALL, Cause.NO_ARGUMENTS)
        return "skip_call" if drops and self.policy["recovery"] == "content" else self.policy["recovery"]

    @property
    def skips_by(self) -> str:
        """The policy by which a call is skipped."""
        return "rejected_call" if self.policy["recovery"] == "content" else "recovery"

    def dropped_by(self, reason: DropReason, *, marked: bool, alone: bool, named: bool) -> str | None:
        """Return the policy that drops the text of a call that is rejected, if one does. `alone`: the output ends
        behind the marker that began it. `named`: it has a name."""
        if self.recovery(reason, marked=marked) != "content":
            return self.skips_by
        if reason.cause is Cause.NO_ARGUMENTS:
            return "missing_arguments" if self.policy["missing_arguments"] == "drop" else None
        cut = self.policy["truncated_call"]
        if (alone and cut != "text") or (named and cut == "drop"):
            return "truncated_call"
        drops = self.policy["rejected_call"] == "drop" and reason.cause is not Cause.CUT_CALL
        return "rejected_call" if drops else None
