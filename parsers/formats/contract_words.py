"""What a contract says of one matter, in words: `content_before_calls=drop_blank|keep` is for files and findings."""

from __future__ import annotations

from parsers.formats.contracts import Contract
from parsers.vocabulary.words import listed

_SUBJECTS = {"whole_output": "calls that no marker begins"}  # of which the description does not begin with the matter
_VALUES = {
    "keep": "kept",
    "drop": "dropped",
    "drop_blank": "dropped when blank",
    "strip": "stripped",
    "text": "content",
    "close": "closed by appending",
    "empty": "a call without arguments",
    "reject": "no call",
    "unwrap": "unwrapped",
    "repair": "repaired",
    "shorten": "written without a fraction",
    "any": "read anywhere",
    "only": "read where they are all of the output",
}


def policy_words(policy: str) -> str:
    """What a contract does about one matter, KEY=VALUE|VALUE as findings name it: "text before the first call: kept or
    stripped (`content_before_calls`)"."""
    key, _, values = policy.partition("=")
    said = [_VALUES.get(value, value.replace("_", " ")) for value in values.split("|")]
    return f"{_subject(key)}: {listed(said, 'or')} (`{key}`)"


def _subject(key: str) -> str:
    known = Contract.model_fields.get(key)
    description = (known and known.description) or key.replace("_", " ")
    subject = _SUBJECTS.get(key) or description.partition(":")[0].rstrip(".")
    return subject[:1].lower() + subject[1:]
