"""What a case says of the programs that it is about, without the prose that somebody wrote beside it.

==========  ==================================================  =======================================================
of          stays                                               goes
==========  ==================================================  =======================================================
parser      its name, engine, options, markers, policies        what is no policy of ours
its format  markers, rules, and the names of both               title (said), a diagnostic that is no code (said),
                                                                descriptions, notes, provenance, models, aliases,
                                                                example
contract    its name, and what it says of a server              title, description, provenance, what weighs nothing
tokenizer   its name, markers and decoder, a digest             revision; a fingerprint that is no digest
an ending   the words of APIs                                   any other (said)
==========  ==================================================  =======================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from parsers.cases.redaction.redacted_stream import API_WORDS, Json, Say
from parsers.checks.changes import WEIGHTS
from parsers.formats.model import policy_values

_PROSE = frozenset({"description", "note", "provenance"})
_OF_FORMATS = _PROSE | {"example", "aliases", "models"}
_OF_CONTRACTS = _PROSE | {"title"}
_ABOUT_SPLITS = ("tokenizer", "source", "version")
_WEIGHED = frozenset([f"{kind}.{differs.name.lower()}" for kind, differs in WEIGHTS])
_CODE = re.compile("[a-z0-9_]+")
_DIGEST = re.compile("[0-9a-f]{64}")


def said_parser(parser: Mapping[str, Json], say: Say) -> dict[str, Json]:
    """The parser, with policies that there are, and a format without prose."""
    made = dict(parser)
    if "policy" in made:
        known = policy_values()
        made["policy"] = {key: value for key, value in made["policy"].items() if value in known.get(key, ())}
    if made.get("format") is not None:
        made["format"] = _format(made["format"], say)
    return made


def _format(given: Mapping[str, Json], say: Say) -> dict[str, Json]:
    made = _without(given, _OF_FORMATS)
    if "title" in made:
        made["title"] = say(made["title"])
    if made.get("splits") is not None:
        made["splits"] = {key: say(one) if key in _ABOUT_SPLITS else one for key, one in made["splits"].items()}
    if "states" in made:
        made["states"] = {name: _state(state, say) for name, state in made["states"].items()}
    return made


def _state(given: Mapping[str, Json], say: Say) -> dict[str, Json]:
    made = _without(given, _PROSE)
    if "rows" in made:
        made["rows"] = [_row(row, say) for row in made["rows"]]
    return made


def _row(given: Mapping[str, Json], say: Say) -> dict[str, Json]:
    """A row, whose diagnostic is a code by habit only: the schema lets it be a sentence."""
    made = _without(given, _PROSE)
    if (code := made.get("diagnostic")) is not None and _CODE.fullmatch(code) is None:
        made["diagnostic"] = say(code)
    return made


def said_contract(contract: Json) -> Json:
    """A contract that is named, or what a whole one says of a server."""
    if not isinstance(contract, dict):
        return contract
    made = _without(contract, _OF_CONTRACTS)
    if "robustness" in made:
        made["robustness"] = {key: value for key, value in made["robustness"].items() if key in _WEIGHED}
    return made


def said_tokenizer(tokenizer: Mapping[str, Json] | None) -> Json:
    """The tokenizer, as far as ids and texts need it."""
    if tokenizer is None:
        return None
    is_digest = _DIGEST.fullmatch(tokenizer.get("fingerprint") or "") is not None
    return _without(tokenizer, {"revision"} if is_digest else {"revision", "fingerprint"})


def said_ending(reason: str | None, say: Say) -> str | None:
    """Why the answer ended: a word of an API, or what a server made of somebody's."""
    return reason if reason is None or reason in API_WORDS else say(reason)


def _without(given: Mapping[str, Json], keys: Iterable[str]) -> dict[str, Json]:
    return {key: value for key, value in given.items() if key not in keys}
