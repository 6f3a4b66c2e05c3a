"""From bytes to an Intake: what was found, how sure each part of it is, and what is missing.

named *.case.json   a case, whatever it holds: the case loader knows best what is wrong with it; likewise *.cases.json
around the body     HTTP lines, curl's noise and the request are taken off first
readers             each in order, the surest first; the first that says yes is taken, `take_as` chooses another
inside prose        where none fits: a code block, or JSON between paragraphs, that one of them takes
anything else       raw text: calls and lists of calls written as JSON are model output
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from parsers.intake.answers import NAMED, log_intake, read_events
from parsers.intake.answers import READERS as ANSWER_READERS
from parsers.intake.api_logs import object_log, several_outputs_warning
from parsers.intake.captures import captures
from parsers.intake.client_objects import read_client_objects
from parsers.intake.dumps import Dump, Dumped, dump_of
from parsers.intake.dynamo_cases import read_dynamo
from parsers.intake.evidence import (
    Ask,
    Fact,
    Intake,
    Kind,
    Reader,
    Reading,
    Warn,
    facts_about,
    holds_markers,
    intake_of,
    is_fence_of_call,
    missing_inputs,
    number,
    text_facts,
)
from parsers.intake.layers import from_bytes, peeled
from parsers.intake.litellm_logs import raw_responses
from parsers.intake.logged_values import read_logged_values
from parsers.intake.own_tests import read_own_test
from parsers.intake.peeling import Peeling, is_clean, is_damaged, is_recording, offers, offers_of_recording, read_peeled
from parsers.intake.plain_text import BOM, text_of
from parsers.intake.pretty_messages import read_pretty_messages
from parsers.intake.printed_values import read_printed_objects, read_printed_values, read_quoted_values
from parsers.intake.python_modules import Modules
from parsers.intake.quoted_outputs import read_conversation, read_quote
from parsers.intake.report_parts import further_outputs, is_expected, report_parts
from parsers.intake.requests import RequestBeside, merged_request, take_request
from parsers.intake.server_logs import read_server_log
from parsers.intake.string_lists import read_delta_lines, read_quoted, read_string_list
from parsers.intake.surroundings import (
    Block,
    Transcript,
    blocks_by_kind,
    code_blocks,
    is_fence,
    without_http,
    without_secrets,
)
from parsers.intake.token_records import read_replay_record, read_token_ids, read_token_pairs
from parsers.intake.tool_input_errors import read_tool_input_errors
from parsers.intake.vllm_suites import read_vllm_suite
from parsers.intake.written_values import choices_of, object_of, string_at, whole_object, whole_value, word_of
from parsers.intake.yaml_values import read_yaml_answer
from parsers.search.known_errors import NOTHING_GENERATED, is_known_alone, known_errors
from parsers.search.pasted import look
from parsers.search.pasted_kinds import Pasted
from parsers.vocabulary.types import RecordedDelta, Recording
from parsers.wire.chat_parts import chat_part_of

_NO_CAPTURE: frozenset[Kind] = frozenset({
    "raw_text", "case", "corpus", "chunk_list", "text_literal", "code_block", "conversation", "empty", "not_text",
    "dynamo_yaml",
})  # fmt: skip
# Things that hold an error, which is explained where nothing is quoted.
_ERRORS = frozenset((
    Pasted.TRACEBACK, Pasted.STACK, Pasted.ERROR, Pasted.LOG, Pasted.SERVER_ERROR, Pasted.REPORT, Pasted.RUBY,
))  # fmt: skip
# What no model writes around its calls: in prose only these are taken by themselves.
_SURE: frozenset[Kind] = frozenset(
    {"sse_log", "json_response", "ndjson_log", "replay_record", "client_objects", "server_log", "dynamo_yaml", "case"}
)
_SECRET = "An Authorization header or an API key was in it. It is not kept; make it invalid if others have seen it."
# An event stream's own line, not one that a log printed.
_STREAMED = re.compile(r"^data: ?[{\[]", re.MULTILINE)
# An error as `repr` prints it, and the key of Groq's under which an output stands in its words.
_ERROR_REPR = re.compile(r"\b[A-Z]\w{0,60}(?:Error|Exception)\((?=['\"])")
_FAILED, _MOST_ERRORS = "failed_generation", 20
_LITELLM = Warn("only_the_call", "What the log says of the output may be a part of it.")
_SPLIT = ("reasoning", "reasoning_content", "tool_calls", "function_call")
# Signs that raw text is something else: none is decisive, the text is replayed as it stands.
_DOUBTS = (
    (re.compile(r'^[ \t]*data: ?\{"|"(?:chat\.completion(?:\.chunk)?|text_completion)"', re.MULTILINE),
     "It holds parts of an API log among other text. If it is a log, paste the log's lines alone."),
    (re.compile(r"Generated response \S+ \(|DELTA TEXT:|Model Output:|unparsed peg-native output:"),
     "It holds lines of a server's log. If it is a log, paste only what it quotes as the output."),
    (re.compile(r"\b(?:ChatCompletion\(|ChatCompletionChunk\(|ChoiceDelta\(|ChoiceDeltaToolCall\()"),
     "It looks like a printed Python object of an OpenAI client, but it cannot be read: paste it whole."),
    (re.compile(r"\A\s*\[\s*'"),
     "It looks like a Python list of strings, but it is none that can be read: paste the whole list."),
    (re.compile(r"\A\s*<(?:!doctype html|html)\b", re.IGNORECASE),
     "It looks like a web page, perhaps the error of a proxy, not a model's output."),
    (re.compile(r"\bsk-[\w-]{20}|\bhf_[A-Za-z0-9]{30}|\bBearer +[\w.~+/=-]{20}"),
     "It holds what looks like an API key. It is part of the text and stays in it: take it out before sharing."),
    (re.compile("\ufffd"), "It holds U+FFFD: some bytes were lost before it came here."),
    (re.compile(r"\A\s+\Z"), "It is white space only."),
)  # fmt: skip


def recognise(
    data: bytes,
    *,
    pasted: bool,
    filename: str | None = None,
    take_as: Kind | None = None,
    modules: Modules | None = None,
    layers: Sequence[str] | None = None,
) -> Intake:
    """Say what the bytes are. `pasted` text came through a form, otherwise it is a file, perhaps with a name.

    `take_as` is a kind that the person chose in place of the first guess. `modules` gives the text of what a file of
    Python imports. `layers` are the names of those that come off, in order; None: those that come off by themselves.
    Never raises; linear in the input.
    """
    data, packed = from_bytes(data) if layers is None or len(layers) else (data, ())
    read = text_of(data, pasted=pasted)
    if isinstance(read, Intake):
        return read
    text, changes = read
    if not text:
        advice = "Paste a model's raw output or open a file that holds it."
        return Intake(kind="empty", title="empty input", advice=advice, notes=changes, layers=packed)
    if layers is None:
        found = _peeled_reading(text, filename, take_as, modules)
    else:
        bare, taken = peeled(text, layers)
        found = _chosen_reading(bare, filename, take_as, modules)
        found.layers = taken
    found.layers = (*packed, *found.layers)
    found.notes = changes + found.notes
    _complete(found)
    return found


def _peeled_reading(text: str, filename: str | None, take_as: Kind | None, modules: Modules | None) -> Intake:
    """Return the reading of the text, or of the recording under layers that come off by themselves; others are
    offered."""
    found = _chosen_reading(text, filename, take_as, modules)
    if found.kind in ("case", "corpus") or (take_as is not None and found.kind == take_as):
        return found

    peeling = Peeling(lambda bare: _chosen_reading(bare, filename, take_as, modules))
    if is_clean(found, text):
        found.offers = offers_of_recording(text, peeling)
        return found

    inner = read_peeled(text, peeling)
    if inner is None or (is_recording(found) and is_damaged(inner)):
        found.offers = offers(text, peeling, raw=found.kind == "raw_text")
        return found
    others = {one.kind: one for one in (*inner.readings, Reading(found.kind, found.title), *found.readings)}
    inner.readings = tuple([one for kind, one in others.items() if kind != inner.kind])
    return inner


def _chosen_reading(text: str, filename: str | None, take_as: Kind | None, modules: Modules | None) -> Intake:
    """Return the reading that was asked for, else the first; the others are listed in it."""
    around = without_http(text.removeprefix(BOM))
    asked = take_request(around.body)
    plain = without_secrets(text) if around.secret or asked.secret else text
    suite = read_own_test(plain) or read_vllm_suite(plain, modules)
    found = [*filter(None, [suite]), *_readings(plain, filename, around, asked)]
    if take_as == "raw_text":
        found = [_raw_text(plain, ()), *[one for one in found if one.kind != "raw_text"]]
    taken = next((one for one in found if one.kind == take_as), found[0])
    taken.readings = tuple([Reading(one.kind, one.title) for one in found if one is not taken])
    if take_as is not None and taken.kind != take_as:
        words = f"It cannot be read as {take_as.replace('_', ' ')}; it was taken for what it looks like."
        taken.warnings = (Warn("take_as", words), *taken.warnings)
    _add_surroundings(taken, around, asked)
    return taken


def _readings(text: str, filename: str | None, around: Transcript, asked: RequestBeside) -> list[Intake]:
    """Return everything the text can be taken for, the likeliest first, raw text last; one of each kind."""
    found: list[Intake] = []
    name = (filename or "").lower()
    found += filter(None, [read(around.body) for suffix, read in NAMED.items() if name.endswith(suffix)])
    found += filter(None, [reader(asked.body) for reader in _READERS])
    if found and found[0].kind == "text_literal" and is_known_alone(asked.body):
        found = []  # an error's own words, as Python prints those of a KeyError
    sure, doubtful = ([], []) if found else _within(asked.body)
    found += sure
    found += [] if found else filter(None, [reader(asked.body) for reader in _LATE])
    found += filter(None, map(_content_as_text, found[:1]))
    if asked.leading and not found:
        found.append(_after_request(text, asked.body) if asked.body.strip() else _request_alone(asked))
    if all(one.kind != "raw_text" for one in found):
        found += doubtful if found else []
        found.append(_raw_text(text, () if found else _raw_text_doubts(text)))
    if found[0].kind == "raw_text":
        found += [*doubtful, *filter(None, [_text_in_code_block(text)])]
    first: dict[Kind, Intake] = {}
    for one in found:
        first.setdefault(one.kind, one)
    return list(first.values())


def _within(body: str) -> tuple[list[Intake], list[Intake]]:
    """Return what a longer text holds: a turn, a quoted output, a recording. First what is surely meant, then what may
    be: in prose that a model may have written, a part of an answer may be its own too."""
    logged = _read_litellm(body) or _read_tool_errors(body)
    if logged is not None:
        return [logged], []
    part, quote = _recording_in_prose(body), read_quote(body)
    own = part is not None and _is_part(part[0].text) and not _is_report(body)
    recordings = [] if part is None else [part[1]]
    quotes = [] if quote is None else [quote]
    logs = quote is not None and quote.kind == "server_log" and (part is None or _is_marked_beside(body, part[0]))
    first = [*quotes, *recordings] if logs else [*recordings, *quotes]
    first = [*filter(None, [read_conversation(body)]), *first]
    return ([], first) if own else (first[:1], first[1:])


def _read_tool_errors(body: str) -> Intake | None:
    """Read calls that errors quote, but for an error among printed parts of a stream: these say more."""
    found = read_tool_input_errors(body)
    return None if found is None or read_printed_values(body) is not None else found


def _is_marked_beside(body: str, block: Block) -> bool:
    """Return whether markers stand outside of a part: else what is quoted is what the part says."""
    return holds_markers(body[: block.start]) or holds_markers(body[block.end :])


def _is_report(body: str) -> bool:
    """Return whether a text is surely no output, or like a bug report: what it shows goes before its words."""
    seen = look(body)
    return seen is not None and (seen.surely or seen.kind is Pasted.REPORT)


def _add_surroundings(taken: Intake, around: Transcript, asked: RequestBeside) -> None:
    """Add what stood around the body, such as the request; but raw text that quotes such lines stays so."""
    if around.secret or asked.secret:
        taken.warnings += (Warn("secret", _SECRET),)
    if taken.parts or _is_report(around.body):
        taken.parts = report_parts(around.body, _sure_recordings)
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


_TORN = ("bad_chunk", "bad_object", "cut_json")  # parts of an answer were left out


def _complete(found: Intake) -> None:
    """Add what follows from outputs and request: labels, facts, asks, and how to record what is missing."""
    _drop_special_token_doubt(found)
    _label(found.outputs)
    said = [] if found.usable else [warn.words for warn in found.warnings if warn.code == "error"]
    refused = _explain(found, "\n".join(said))
    torn = any(warn.code in _TORN for warn in found.warnings)
    for output in found.outputs:
        output.gaps = output.gaps or (torn and output.stream is not None)
        output.notes = (*found.notes, *[warn.words for warn in found.warnings])
        output.request = merged_request(output.request, found.request)
    first = found.recording
    sure = first is not None and first.text is not None
    sure = sure and all(fact.certainty == "exact" for fact in found.facts if fact.about == "text")
    if not (found.captures or refused):
        found.captures = () if sure or found.kind in _NO_CAPTURE else captures(found.server)
    if first is not None:
        found.facts = facts_about(first, found.facts if first is found.outputs[0] else ())
        found.asks += missing_inputs(first)
        found.request = found.request or first.request


def _label(outputs: Sequence[Recording]) -> None:
    count = Counter(output.label for output in outputs)
    for at, output in enumerate(outputs if len(outputs) > 1 else (), 1):
        if not output.label or count[output.label] > 1:
            output.label = f"output {at}" + (f": {output.label}" if output.label else "")


def _drop_special_token_doubt(found: Intake) -> None:
    """Drop the doubt about special tokens where the request says that they were kept."""
    requests = [found.request, *(output.request for output in found.outputs[:1])]
    asked = any(warn.code == "special_tokens_asked" for warn in found.warnings)
    if asked and any(one is not None and one.skip_special_tokens is False for one in requests):
        found.warnings = tuple([warn for warn in found.warnings if warn.code != "special_tokens_asked"])
        found.facts = tuple([fact for fact in found.facts if (fact.about, fact.certainty) != ("text", "assumed")])


def _explain(found: Intake, text: str) -> bool:
    """Say what the errors in a text mean, and how to record what the model wrote; return whether nothing was: the
    requests were refused."""
    errors = list(known_errors(text))
    refused = bool(errors) and all(error.refused for error in errors)
    found.notes += (*[error.meaning for error in errors], *[NOTHING_GENERATED] * refused)
    if errors and not refused:
        found.captures = captures(next(filter(None, [error.server for error in errors]), None))
    return refused


def _raw_text(text: str, notes: tuple[str, ...]) -> Intake:
    fact = Fact("text", "exact", "The text is taken as it was given, character for character.")
    seen = look(text)
    title = f"{seen.kind.words if seen and seen.surely else 'raw model output'}, {number(len(text), 'character')}"
    outputs = (Recording(text=text),)
    made = Intake(kind="raw_text", title=title, usable=True, outputs=outputs, notes=notes, facts=(fact,))
    told = seen is not None and (seen.surely or seen.kind is Pasted.REPORT or not holds_markers(text))
    if seen is not None and seen.kind in _ERRORS and told:
        _explain(made, text)
    return made


def _raw_text_doubts(text: str) -> tuple[str, ...]:
    """Return a note for each sign that the raw text is something else."""
    notes = [note for sign, note in _DOUBTS if sign.search(text)]
    found = look(text)
    if found is not None and found.kind not in (Pasted.PAGE, Pasted.REQUEST):  # these have notes of their own
        also = f"not like a model's output. {found.kind.advice}"
        also = also if found.surely else "though a model may have written it as an answer."
        notes.append(f"It looks like {found.kind.words}, {also}")
    value = whole_object(text) or {}
    if isinstance(value.get("messages"), list):
        notes.append("It looks like a request. Paste the model's output, or the answer beside it.")
    if type(value.get("schema")) is int and ("input" in value) != ("parser" in value):
        notes.append("It looks like a case file, but it lacks `input` or `parser`.")
    return tuple(notes)


def _request_alone(asked: RequestBeside) -> Intake:
    return Intake(
        kind="request",
        title="request without an answer",
        advice="Add the server's answer or the raw output below it.",
        why=asked.why,
        notes=asked.notes,
        asks=(Ask("text", "Add the answer, or the model's raw output: a request alone has nothing to replay."),),
    )


def _after_request(text: str, body: str) -> Intake:
    """Take what follows a request and has no shape for the model's output, as it was given."""
    before = len(body) - len(body.lstrip())
    lines = text.split("\n")[body.count("\n", 0, before) :]
    text = "\n".join(lines).removesuffix("\n")
    blocks = [block for block in code_blocks(body) if block.text.strip()]
    if len(blocks) == 1 and not _outside(body, blocks[0]):
        text = blocks[0].text.removesuffix("\n")
    found = _raw_text(text, _raw_text_doubts(text))
    found.why = ("What follows the request has no known shape, so it is taken for the model's output.",)
    return found


def _outside(body: str, block: Block) -> list[str]:
    """Return the lines that stand beside a code block, fences aside: that of the request is empty."""
    beside = f"{body[: block.start]}\n{body[block.end :]}".split("\n")
    return [line for line in beside if line.strip() and not is_fence(line)]


def _recording_in_prose(body: str) -> tuple[Block, Intake] | None:
    """Return the first part of a longer text, as of a bug report, that is surely a recording, and what it is."""
    read = next(filter(None, map(_sure_recordings, blocks_by_kind(body))), None)
    if read is None:
        return None
    read.sort(key=lambda one: is_expected(body, one[0]))  # what should have come is listed behind what came
    block, found = read[0]
    left = len(_outside(body, block))
    found.why = ("It stands inside other text.", *found.why)
    found.warnings += (Warn("other_text", f"{number(left, 'line')} of other text around it left out."),)
    further = list(further_outputs(body, read)) if found.outputs else []
    if further:
        for output in found.outputs:
            output.label = output.label or found.title
        found.outputs += tuple(further)
        found.warnings += tuple(several_outputs_warning(len(found.outputs)))
    found.parts = report_parts(body, _sure_recordings)  # told anew with the request, where one stood beside it
    return block, found


def _is_part(text: str) -> bool:
    """Return whether it is a message, a delta or calls alone, which models write when they explain an API."""
    value = whole_value(text)
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and chat_part_of(first) is not None


def _sure_recordings(blocks: Sequence[Block]) -> list[tuple[Block, Intake]]:
    first = [(block, next(filter(None, (read(block.text) for read in _QUOTED)), None)) for block in blocks]
    return [(block, found) for block, found in first if found and found.usable and found.kind in _SURE]


def _text_in_code_block(text: str) -> Intake | None:
    """Return the first code block with markup of calls or reasoning; it is offered, as models write such too.

    A fence in which a format writes arguments is no quotation.
    """
    blocks = (block for block in code_blocks(text) if not is_fence_of_call(text, block.start))
    inner = next((block.text for block in blocks if holds_markers(block.text)), None)
    if inner is None:
        return None
    fact = Fact("text", "assumed", "What stands in the code block is taken for the whole output, as you chose.")
    title, output = f"the text in a code block, {number(len(inner), 'character')}", Recording(inner, "code_block")
    return intake_of("code_block", title, [output], why="It stands between fences.", facts=[fact])


def _content_as_text(found: Intake) -> Intake | None:
    """Read the content of a log as raw text, for a person who knows that no parser was at work.

    None where one was, or there is no content.
    """
    outputs = list(filter(None, map(_output_of_content, found.outputs)))
    if not outputs or len(outputs) < len(found.outputs):
        return None
    words = "The content is taken for the raw text, as you chose: special tokens may be missing from it."
    made = intake_of(
        "chunk_list",
        f"content of a log, {number(sum(len(output.deltas or ()) for output in outputs), 'delta')} of raw text",
        outputs,
        why="It is the content of the log's chunks, taken for the raw text.",
        facts=[Fact("text", "assumed", words)],
        warnings=found.warnings,
        server=found.server,
    )
    made.request = found.request
    return made


def _output_of_content(output: Recording) -> Recording | None:
    choices = [choice for chunk in output.stream or () for choice in choices_of(chunk) or []]
    parts = [object_of(choice.get("delta", choice.get("message"))) for choice in choices]
    texts = [text for part in parts if (text := word_of(part.get("content")))]
    split = any(part.get(name) for part in parts for name in _SPLIT)
    if split or not texts or output.text is not None or output.ids is not None:
        return None
    return replace(output, kind="chunk_list", text="".join(texts), deltas=tuple([RecordedDelta(one) for one in texts]))


def _read_quoted_log(body: str) -> Intake | None:
    """Read a log that was printed as strings: one string, or a list of them."""
    quoted = read_string_list(body) or read_quoted(body)
    output = quoted.outputs[0] if quoted is not None and len(quoted.outputs) == 1 else None
    lines = [delta.text for delta in output.deltas or ()] if output is not None else []
    text = output.text if output is not None else None
    if lines and all(line.startswith(("data:", "event:")) or not line for line in lines):
        text = "\n".join(lines)  # a list of the lines, without their ends
    found = read_events(text) if text is not None and _STREAMED.search(text) else None
    if found is not None:
        found.why = ("It is a log that was printed as strings; the strings were joined.", *found.why)
    return found


def _read_error_repr(body: str) -> Intake | None:
    """Read the answer that stands in an error as `repr` prints it: a string in which quotes have escapes."""
    for mark in islice(_ERROR_REPR.finditer(body), _MOST_ERRORS):
        words = string_at(body, mark.end()) if _FAILED in body else None
        found = log_intake(object_log(words.value)) if words is not None and words.whole else None
        if found is not None and found.usable:
            found.why = ("It stands in the words of an error, as `repr` prints them.", *found.why)
            return found
    return None


def _read_litellm(body: str) -> Intake | None:
    """Read the last thing that LiteLLM logged as a server's raw response."""
    logged = raw_responses(body)
    if not logged:
        return None
    last = logged[-1]
    if not last.is_answer:
        title, output = f"LiteLLM's log, {number(len(last.text), 'character')}", Recording(last.text)
        said = "`RAW RESPONSE:` stands before it, and it is no answer of an API."
        return intake_of("server_log", title, [output], why=said, facts=text_facts([_LITELLM]), warnings=[_LITELLM])
    found = next(filter(None, (read(last.text) for read in _READERS)), None) if last.whole else None
    if found is None or not found.usable:
        advice = "The answer behind `RAW RESPONSE:` breaks off or cannot be read: paste all of it."
        return Intake(kind="server_log", title="LiteLLM's log without a whole answer", advice=advice)
    found.why = ("It stands behind `RAW RESPONSE:` in LiteLLM's log.", *found.why)
    if len(logged) > 1:
        found.warnings += (Warn("other_recordings", f"{number(len(logged) - 1, 'earlier response')} left out."),)
    return found


def _is_stream(body: str) -> bool:
    return bool(_STREAMED.search(body)) or (body.lstrip().startswith("{") and whole_object(body) is None)


def _read_dump(body: str) -> Intake | None:
    """Read what strings of a dump hold: recordings where there are any, else outputs as they are."""
    dump = dump_of(body)
    if dump is None:
        return None
    read = [(one, found) for one in dump.strings for found in [_recorded_in(one.text)] if found is not None]
    outputs = [_placed(output, one) for one, found in read for output in found.outputs]
    if not outputs:
        outputs = [_placed(Recording(one.text, "code_block"), one) for one in dump.outputs]
    return _of_dump(dump, outputs, read[0][1].kind if read else "code_block") if outputs else None


def _recorded_in(text: str) -> Intake | None:
    found = next(filter(None, (read(text) for read in _QUOTED)), None)
    return found if found is not None and found.usable and found.kind in _SURE else None


def _placed(output: Recording, where: Dumped) -> Recording:
    output.label = f"{where.place}: {output.label}" if output.label else where.place
    return output


def _of_dump(dump: Dump, outputs: Sequence[Recording], kind: Kind) -> Intake:
    held = number(len(outputs), "output")
    return intake_of(
        kind,
        f"{dump.words} with {held}",
        outputs,
        why=f"It is a {dump.words}, and its strings hold {'an output' if kind == 'code_block' else 'a recording'}.",
        facts=[Fact("text", "assumed", "What a string of it holds is taken for the whole output.")]
        * (kind == "code_block"),
        warnings=several_outputs_warning(len(outputs)),
    )


_READERS: tuple[Reader, ...] = (
    read_replay_record,
    read_token_pairs,
    lambda body: None if _is_stream(body) else read_server_log(body),
    _read_error_repr,
    _read_quoted_log,
    read_string_list,
    read_printed_objects,
    read_client_objects,
    read_pretty_messages,
    read_token_ids,
    *ANSWER_READERS,
    read_delta_lines,
    read_quoted,
    read_dynamo,
    # The error that ends a stream may quote the output too; it is the stream first.
    lambda body: read_server_log(body) if _is_stream(body) else None,
)
# Only where none of these fits: any values, whatever printed them.
_LATE: tuple[Reader, ...] = (read_logged_values, read_printed_values, read_yaml_answer, _read_dump)
_QUOTED: tuple[Reader, ...] = (*_READERS, read_quoted_values, read_logged_values)
