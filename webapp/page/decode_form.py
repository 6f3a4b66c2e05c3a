"""The detokenizer in the form: which decode policy, what it leaves out, and where it stops. And the same in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsers.cases.model import Case
from parsers.decoding import POLICIES, DecodePolicy

OWN: DecodePolicy = "exact"


@dataclass(slots=True)
class DecodeFields:
    """The fields as they are to be shown again. `stop`: a stop string on each line."""

    policy: str = OWN
    skip_special: bool = False
    stop: str = ""
    include_stop: bool = False
    drop_eos: bool = False

    @property
    def words(self) -> str:
        """What the fields say, in a few words; empty for the defaults."""
        return _words(_data(self))


def read_decode(fields: Mapping[str, str]) -> DecodeFields:
    """What was typed."""
    return DecodeFields(
        policy=fields.get("decode_policy", "").strip() or OWN,
        skip_special=bool(fields.get("skip_special")),
        stop=fields.get("stop", "").replace("\r\n", "\n").replace("\r", "\n"),
        include_stop=bool(fields.get("include_stop")),
        drop_eos=bool(fields.get("drop_eos")),
    )


def with_decode(data: dict[str, Any], fields: DecodeFields, given: Mapping[str, Any]) -> None:
    """Put what the fields say into the data of a case; the defaults are not said. What a recording brought along
    (`given`) stays where the fields say nothing else."""
    data.pop("decode", None)
    if said := {**given.get("decode", {}), **_data(fields)}:
        data["decode"] = said


def decode_fields(case: Case) -> DecodeFields:
    """The fields that describe the decoding of a case."""
    decode = case.decode
    if decode is None:
        return DecodeFields()
    stop = "\n".join(_line(text) for text in decode.stop)
    return DecodeFields(decode.policy, decode.skip_special_tokens, stop, decode.include_stop, decode.drop_eos)


def said(case: Case) -> str:
    """How the text of a case was decoded, in a few words; empty for exactly."""
    return "" if case.decode is None else _words(case.decode.model_dump(exclude_defaults=True))


def policy_words(case: Case) -> str:
    """What the decode policy of a case does, in a sentence."""
    return POLICIES[case.decode.policy if case.decode else OWN]


def _data(fields: DecodeFields) -> dict[str, Any]:
    said: dict[str, Any] = {
        "policy": fields.policy,
        "skip_special_tokens": fields.skip_special,
        "stop": _lines(fields.stop),
        "include_stop": fields.include_stop,
        "drop_eos": fields.drop_eos,
    }
    return {key: value for key, value in said.items() if value and value != OWN}


def _words(said: Mapping[str, Any]) -> str:
    words = [said["policy"]] if said.get("policy", OWN) != OWN else []
    words += ["special tokens skipped"] * bool(said.get("skip_special_tokens"))
    if stop := said.get("stop"):
        words.append(f"stop {', '.join(json.dumps(text, ensure_ascii=False) for text in stop)}")
        words += ["which is kept"] * bool(said.get("include_stop"))
    words += ["final end token dropped"] * bool(said.get("drop_eos"))
    return ", ".join(words)


def _lines(text: str) -> list[str]:
    return [_unquoted(line) for line in text.split("\n") if line]


def _line(text: str) -> str:
    """A stop string as a line: as it is, or as a JSON string where it would not stay whole."""
    plain = text and text == text.strip() and text.isprintable() and not text.startswith('"')
    return text if plain else json.dumps(text)


def _unquoted(line: str) -> str:
    if line.startswith('"'):
        try:
            value = json.loads(line)
        except ValueError:
            return line
        return value if isinstance(value, str) else line
    return line
