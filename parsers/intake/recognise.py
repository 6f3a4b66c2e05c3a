"""From bytes to an Intake: what was found, how sure each part of it is, and what is missing.

named *.case.json   a case, whatever it holds: the case loader knows best what is wrong with it
around the body     HTTP lines, curl's noise and the request are taken off first
shapes              each reader of `shapes` in order; the first is taken, `take_as` chooses another
inside prose        where none fits: a code block, or JSON between paragraphs, that one of them takes
anything else       raw text: calls and lists of calls written as JSON are model output
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from parsers.intake import facts
from parsers.intake.captures import PICKLE, captures
from parsers.intake.contents import contents
from parsers.intake.decoding import BOM, decoded, is_pickle, not_text
from parsers.intake.hints import hints
from parsers.intake.jsonread import skip_space, value_at
from parsers.intake.model import Ask, Capture, Fact, Intake, Kind, Reading, Recognised, Warn, number
from parsers.intake.prose import read_code_block, read_in_prose
from parsers.intake.requests import Asked, joined, take_request
from parsers.intake.shapes import READERS
from parsers.intake.transcript import Transcript, redacted, without_http
from parsers.intake.values import named_case
from parsers.vocabulary.types import Recording

_NO_CAPTURE = frozenset(
    {"raw_text", "case", "chunk_list", "text_literal", "code_block", "empty", "not_text", "dynamo_yaml"}
)
_CASE_SUFFIX = ".case.json"
_SECRET = "An Authorization header or an API key was in it. It is not kept; make it invalid if others have seen it."


def recognise(data: bytes, *, pasted: bool, filename: str | None = None, take_as: Kind | None = None) -> Intake:
    """Say what the bytes are. `pasted` text came through a form, otherwise it is a file, perhaps with a name.

    `take_as` is a kind that the person chose in place of the first guess. Never raises; linear in the input.
    """
    if is_pickle(data):
        return _told(_pickle(), ())
    try:
        text, changes = decoded(data, pasted=pasted)
    except UnicodeDecodeError as error:
        return _told(not_text(data, error), ())
    if not text:
        return _told(_empty(), changes)
    return _told(_chosen(text, filename, take_as), changes)


def as_raw_text(data: bytes, *, pasted: bool) -> Intake:
    """The bytes as raw model output, whatever they look like: for users who know better."""
    return recognise(data, pasted=pasted, take_as="raw_text")


def _chosen(text: str, filename: str | None, take_as: Kind | None) -> Recognised:
    """The reading that was asked for, else the first; the others are listed in it."""
    around = without_http(text.removeprefix(BOM))
    asked = take_request(around.body)
    plain = redacted(text) if around.secret or asked.secret else text
    found = _readings(plain, filename, around, asked)
    if take_as == "raw_text":
        found = [_raw(plain, ()), *[one for one in found if one.kind != "raw_text"]]
    taken = next((one for one in found if one.kind == take_as), found[0])
    taken.readings = tuple([Reading(one.kind, one.title) for one in found if one is not taken])
    if take_as is not None and taken.kind != take_as:
        words = f"It cannot be read as {take_as.replace('_', ' ')}; it was taken for what it looks like."
        taken.warnings = (Warn("take_as", words), *taken.warnings)
    _add_around(taken, around, asked)
    return taken


def _readings(text: str, filename: str | None, around: Transcript, asked: Asked) -> list[Recognised]:
    """Everything the text can be taken for, the likeliest first, raw text last; one of each kind."""
    found: list[Recognised] = []
    if filename is not None and filename.lower().endswith(_CASE_SUFFIX):
        found.append(named_case(around.body))
    found += _made(reader(asked.body) for reader in READERS)
    found = found or _made([read_in_prose(asked.body, READERS)])
    found += _made(map(contents, found[:1]))
    if asked.leading and not found:
        found.append(_after_request(text, asked.body) if asked.body.strip() else _request(asked))
    if all(one.kind != "raw_text" for one in found):
        found.append(_raw(text, () if found else hints(text, _whole_value(text))))
    if found[0].kind == "raw_text":
        found += _made([read_code_block(text)])
    return list({one.kind: one for one in reversed(found)}.values())[::-1]


def _made(given: Iterable[Recognised | None]) -> list[Recognised]:
    return [one for one in given if one is not None]


def _add_around(taken: Recognised, around: Transcript, asked: Asked) -> None:
    """What stood around the body, the request among it. Plain text that quotes such lines is plain text."""
    if around.secret or asked.secret:
        taken.warnings += (Warn("secret", _SECRET),)
    if taken.kind == "raw_text" and not asked.leading:
        return
    if taken.kind not in ("raw_text", "request"):
        notes = (f"{number(around.skipped, 'line')} of HTTP around it skipped.",) if around.skipped else ()
        taken.notes = (*notes, *asked.notes, *taken.notes)
        taken.why += asked.why
    taken.warnings += asked.warnings
    if around.curl_error:
        taken.warnings += (Warn("curl_error", f"curl ended with an error: {around.curl_error}."),)
    for output in taken.outputs:
        output.prompt_ids = output.prompt_ids or asked.prompt_ids
    taken.request = taken.request or asked.request
    taken.server = taken.server or asked.server


def _told(found: Recognised, changes: tuple[str, ...]) -> Intake:
    """The Intake: changes first, then what is wrong, then what to do next."""
    _skipped_specials(found)
    notes = changes + found.notes
    words = [warn.words for warn in found.warnings]
    told = (*notes, *words)
    _label(found.outputs)
    for output in found.outputs:
        output.notes = told
        output.request = joined(output.request, found.request)
    first = found.outputs[0] if found.outputs else None
    return Intake(
        kind=found.kind,
        title=found.title,
        message=" ".join([f"Recognised: {found.title}.", *notes, *words, found.advice]).rstrip(),
        usable=found.usable,
        outputs=found.outputs,
        case=found.case,
        why=found.why,
        facts=facts.facts(first, found.facts) if first else (),
        warnings=found.warnings,
        asks=found.asks + (facts.asks(first) if first else ()),
        captures=found.captures or _captures(found),
        readings=found.readings,
        notes=notes,
        request=found.request or (first.request if first else None),
    )


def _label(outputs: tuple[Recording, ...]) -> None:
    """Give each of several outputs a name of its own."""
    if len(outputs) < 2:
        return
    count = Counter(output.label for output in outputs)
    for at, output in enumerate(outputs, 1):
        if not output.label or count[output.label] > 1:
            output.label = f"output {at}: {output.label}".removesuffix(": ")


def _skipped_specials(found: Recognised) -> None:
    """Where the request says that special tokens were kept, they are no longer in doubt."""
    requests = [found.request, *(output.request for output in found.outputs[:1])]
    doubt = next((warn for warn in found.warnings if warn.code == "special_tokens_asked"), None)
    if doubt is not None and any(one is not None and one.skip_special_tokens is False for one in requests):
        found.warnings = tuple([warn for warn in found.warnings if warn is not doubt])
        found.facts = tuple([fact for fact in found.facts if fact.words != doubt.words])


def _captures(found: Recognised) -> tuple[Capture, ...]:
    """How to record what is missing: where the raw text is not there, or not surely whole."""
    if found.kind in _NO_CAPTURE:
        return ()
    first = found.outputs[0] if found.outputs else None
    sure = first is not None and first.text is not None
    sure = sure and all(fact.certainty == "exact" for fact in found.facts if fact.about == "text")
    return () if sure else captures(found.server)


def _whole_value(text: str) -> Any:
    start = skip_space(text, 0)
    found = value_at(text, start) if text.startswith("{", start) else None
    return found[0] if found and skip_space(text, found[1]) == len(text) else None


def _empty() -> Recognised:
    advice = "Paste a model's raw output or open a file that holds it."
    return Recognised(kind="empty", title="empty input", advice=advice)


def _pickle() -> Recognised:
    advice = "It is never opened here. Convert it yourself with the script shown, and give the JSON it writes."
    return Recognised(kind="pickle", title="Python pickle", advice=advice, captures=(PICKLE,))


def _raw(text: str, notes: tuple[str, ...]) -> Recognised:
    return Recognised(
        kind="raw_text",
        title=f"raw model output, {number(len(text), 'character')}",
        advice="Choose a parser and replay it.",
        usable=True,
        outputs=(Recording(text=text),),
        notes=notes,
        facts=(Fact("text", "exact", "The text is taken as it was given, character for character."),),
    )


def _request(asked: Asked) -> Recognised:
    """A request without any answer."""
    return Recognised(
        kind="request",
        title="request without an answer",
        advice="Add the server's answer or the raw output below it.",
        why=asked.why,
        notes=asked.notes,
        asks=(Ask("text", "Add the answer, or the model's raw output: a request alone has nothing to replay."),),
    )


def _after_request(text: str, body: str) -> Recognised:
    """What follows a request and has no shape: the model's output, as it was given."""
    before = len(body) - len(body.lstrip())
    lines = text.split("\n")[body.count("\n", 0, before) :]
    text = "\n".join(lines).removesuffix("\n")
    found = _raw(text, hints(text, _whole_value(text)))
    found.why = ("What follows the request has no known shape, so it is taken for the model's output.",)
    return found
