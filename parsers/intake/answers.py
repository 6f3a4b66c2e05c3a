"""Answers of an API: JSON, event streams and chunks, by themselves or inside other JSON.

Inside: a request and its answer in one object, as proxies and tracing tools save them; log lines that hold one chunk
each; HAR files, which a browser's network panel saves (HAR 1.2: log.entries, request.postData.text,
response.content.text and its encoding; Chrome's `_eventSourceMessages` have the time of each event; of headers and
cookies nothing is kept). The names of the parts differ; what
counts is that a part has the shape of an API's answer.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from parsers.cases.case import CaseError
from parsers.cases.corpus import case_texts
from parsers.intake.api_families import CASE, family_of
from parsers.intake.api_logs import (
    Log,
    event_log,
    object_log,
    raw_intake,
    response_log,
    several_outputs_warning,
)
from parsers.intake.attribute_lists import named_attributes
from parsers.intake.chat_streams import chat_intake
from parsers.intake.content_blocks import sent_call
from parsers.intake.curl_traces import curl_trace
from parsers.intake.evidence import Intake, Payload, Reader, Warn, number
from parsers.intake.json_frames import object_frames
from parsers.intake.moments import moment_of
from parsers.intake.requests import is_request, merged_request, request_of
from parsers.intake.written_values import (
    choices_of,
    object_of,
    objects_of,
    skip_space,
    unfinished_value,
    value_at,
    whole_object,
    whole_value,
)

_CUT_JSON = Warn("cut_json", "The JSON breaks off before its end: what is not whole was left out.")
_HAR_SECRETS = Warn(
    "har_secrets", "A HAR file holds cookies and keys of the whole visit. None is kept; share it with care."
)
_ANSWERS = (
    "response",
    "responses",
    "response_body",
    "chunks",
    "events",
    "stream",
    "output",
    "completion",
    "result",
    "outputs",
    "raw",
    "message",
    "choices",
    "output_messages",
)
_REQUESTS = ("request", "request_body", "input", "kwargs", "params", "body")
_ASKED = frozenset((
    *_REQUESTS, "inputs", "input_messages", "prompts", "prompt", "tools", "parameters", "invocation_params", "metadata",
    "request_body", "optional_params", "serialized", "usage", "usage_metadata", "headers",
))  # fmt: skip
_ITEMS = ({"message"}, {"message_content"}, {"tool_call"})
_MOST_INSIDE, _DEEPEST, _FIRST, _DEEPEST_NAME = 400, 11, 50, 12
_KEYS = 8  # the commonest keys of log lines are looked into

_SIGNS = {
    "prompt_token_ids": "vLLM", "prompt_text": "vLLM", "kv_transfer_params": "vLLM", "prompt_logprobs": "vLLM",
    "sglext": "SGLang", "timings": "llama.cpp", "__verbose": "llama.cpp", "nvext": "Dynamo", "stats": "LM Studio",
    "model_info": "LM Studio",
}  # fmt: skip
_CHOICE_KEYS = {
    "stop_reason": "vLLM", "token_ids": "vLLM", "matched_stop": "SGLang", "response_token_ids": "SGLang",
    "hidden_states": "SGLang",
}  # fmt: skip
_DELTA_KEYS = {"reasoning": "vLLM"}
_FINGERPRINTS = (
    (re.compile(r"b\d{3,6}-"), "llama.cpp"),
    (re.compile(r"fp_ollama"), "Ollama"),
    (re.compile(r"\d+\.\d+\.\d+(?:-\w+)?-(?:sha-|native)"), "TGI"),
    (re.compile(r"vllm"), "vLLM"),
)
_HEX_ID = re.compile(r"[0-9a-f]{32}")
_LOOKED_AT = 200  # payloads: the first ones tell, and a usage chunk at the end


def _named_case(body: str) -> Intake:
    """Take a file whose name says that it is a case for one, whatever it holds."""
    if whole_object(body) is not None:
        return _case_intake(body)
    advice = "Its name says case file, but it does not hold one JSON object. Export the case again, or rename the file."
    return Intake(kind="case", title="case file that cannot be read", advice=advice)


def _case_intake(body: str) -> Intake:
    why = ("It is a JSON object with a case's schema, parser and input.",)
    return Intake(kind="case", title="case file", advice="Replay it.", usable=True, cases={"": body}, why=why)


def _corpus_intake(body: str) -> Intake:
    """Take a file whose name says so, or whose JSON objects are cases, for a corpus; or say what keeps it from one."""
    try:
        cases = case_texts(body)
    except CaseError as error:
        return Intake(kind="corpus", title="corpus that cannot be read", advice=f"{error}.")
    title = f"corpus of {number(len(cases), 'case')}"
    why = ("Each of its JSON objects has a case's schema, parser and input.",) if cases else ()
    advice = "Choose a case and replay it." if cases else "There is nothing in it to replay."
    return Intake(kind="corpus", title=title, advice=advice, usable=bool(cases), cases=cases, why=why)


def _is_case(value: Any) -> bool:
    return isinstance(value, dict) and family_of(value) is CASE


def _read_case_lines(body: str) -> Intake | None:
    first = value_at(body, skip_space(body, 0)) if '"schema"' in body else None
    if first is None or not _is_case(first[0]) or not body.startswith("{", skip_space(body, first[1])):
        return None
    return _corpus_intake(body) if object_frames(body) is not None else None


def _read_json(body: str) -> Intake | None:
    value = whole_value(body)
    if _is_case(value):
        return _case_intake(body)
    if isinstance(value, dict) and value and all(map(_is_case, value.values())):
        return _corpus_intake(body)
    return log_intake(response_log(value))


def read_events(body: str) -> Intake | None:
    """Read server-sent events."""
    return log_intake(event_log(body))


def _read_curl_trace(body: str) -> Intake | None:
    """Read what came in a trace of curl: events, lines of JSON, or one answer."""
    return curl_trace(body, lambda text: read_events(text) or log_intake(object_log(text)) or _read_json(text))


def _read_cut_json(body: str) -> Intake | None:
    """Read what is whole of one answer whose JSON breaks off."""
    start = skip_space(body, 0)
    if not body.startswith(("{", "["), start) or value_at(body, start) is not None:
        return None
    found = log_intake(response_log(unfinished_value(body)))
    if found is not None:
        found.warnings = (_CUT_JSON, *found.warnings)
    return found


def _read_wrapped(body: str) -> Intake | None:
    """Read JSON that holds an answer somewhere inside, and perhaps the request."""
    value = whole_value(body)
    har = "entries" in object_of(object_of(value).get("log"))
    return found_in(value) if value is not None and not har else None


def found_in(value: Any) -> Intake | None:
    """Return the answer inside a value: the outermost, that under a usual name first; of messages the assistant's.

    Proxies, tracing tools and frameworks keep it there: as an object, as a list of messages, or as JSON in a string;
    attributes of OpenTelemetry have dots in their names.
    """
    if isinstance(value, dict) and family_of(value) is not None:
        return None
    for name, one in islice(_inside(value), _MOST_INSIDE):
        found = log_intake(_log_of(_spoken(one)))
        if found is not None and found.usable:
            found.why = (f"It stands in an object, under `{name}`.", *found.why)
            asked = next((one for _, one in _objects_in(value) if is_request(one)), None)
            found.request = request_of(asked) if asked is not None else None
            return found
    return None


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what stands in a value and may be an answer, the outermost first; not what was asked."""
    queue: deque[tuple[str, Any, int]] = deque([("", value, 0)])
    while queue:
        name, one, depth = queue.popleft()
        if isinstance(one, str) and one.lstrip()[:1] in ("{", "["):
            one = whole_value(one) or one
        one = named_attributes(one) or one
        if depth or isinstance(one, list):
            yield name or "a list", one
        if depth == _DEEPEST:
            continue
        if isinstance(one, dict):
            one = _nested(one)
            keys = sorted(one, key=lambda key: key not in _ANSWERS)
            queue.extend([(key, one[key], depth + 1) for key in keys if key not in _ASKED or _is_event(key, one[key])])
        elif isinstance(one, list):
            queue.extend([(name or f"item {at}", item, depth + 1) for at, item in enumerate(one[:_FIRST], 1)])


def _is_event(name: str, value: Any) -> bool:
    """Return whether a body is that of an event of OpenTelemetry's GenAI conventions: a choice, with its message."""
    return name == "body" and isinstance(value, dict) and "message" in value and not is_request(value)


def _objects_in(value: Any) -> Iterator[tuple[str, Payload]]:
    for name in _REQUESTS:
        one = object_of(value).get(name)
        if isinstance(one, dict):
            yield name, one


def _spoken(value: Any) -> Any:
    """Return the last turn of the assistant of a list of messages; anything else as it is."""
    messages = objects_of(value) or []
    if len(messages) > 1 and all("role" in one or "type" in one for one in messages):
        turns = [one for one in messages if one.get("role") in ("assistant", "model") or one.get("type") == "ai"]
        return turns[-1] if turns and len(turns) < len(messages) else value
    return value


def _nested(flat: Payload) -> Payload:
    """Return attributes whose names have dots as the objects and lists that they stand for."""
    if not any("." in key for key in flat):
        return flat
    tree: Payload = {}
    for key, value in flat.items():
        *way, last = key.split(".")[:_DEEPEST_NAME]
        at = tree
        for part in way:
            inner = at.setdefault(part, {})
            at = inner if isinstance(inner, dict) else at.setdefault(f"{part}.", {})
        at[last] = value
    return object_of(_listed(tree))


def _listed(value: Any) -> Any:
    """Return objects with the keys 0, 1, 2 ... as lists; OpenInference puts one more object around each item."""
    if not isinstance(value, dict):
        return value
    made = {key: _listed(one) for key, one in value.items()}
    calls = objects_of(made.get("tool_calls")) or []
    if calls and all("function" not in call and "name" in call for call in calls):  # as OpenLLMetry flattens them
        made["tool_calls"] = [sent_call(call, number) for number, call in enumerate(calls)]
    if made and all(key.isdigit() for key in made):
        items = [made[key] for key in sorted(made, key=int)]
        return [next(iter(one.values())) if isinstance(one, dict) and set(one) in _ITEMS else one for one in items]
    return made


def _log_of(value: Any) -> Log | None:
    return event_log(value) or object_log(value) if isinstance(value, str) else response_log(value)


def read_logged_lines(body: str) -> Intake | None:
    """Read JSON log lines with a chunk under one key each, as an object or as the text that came."""
    rows = [row for line in body.split("\n") if line.startswith("{") and (row := whole_object(line)) is not None]
    family = family_of(rows[0]) if len(rows) > 1 else None
    if len(rows) < 2 or (family is not None and not family.quotes):
        return None
    counted = Counter([key for row in rows for key in row if isinstance(row[key], dict | str)])
    for key, _ in counted.most_common(_KEYS):
        objects = [row for row in rows if isinstance(row.get(key), dict)]
        texts = [row for row in rows if isinstance(row.get(key), str)]
        found = log_intake(_log_of_rows(objects if len(objects) > len(texts) else texts, key))
        if found is not None and found.usable:
            found.why = (f"It stands in {number(len(rows), 'log line')} of JSON, under `{key}`.", *found.why)
            return found
    return None


def _log_of_rows(rows: list[Payload], key: str) -> Log | None:
    """Return the log that stands in rows under a key, as objects or as text, with the rows' time stamps."""
    values = [row[key] for row in rows]
    texts = [value.removesuffix("\n") for value in values if isinstance(value, str)]
    log = _log_of("\n".join(texts) if texts else values)
    lines = [text.count("\n") + 1 for text in texts] or [1] * len(rows)
    stamps = [stamp for row, many in zip(rows, lines, strict=True) for stamp in [moment_of(row)] * many]
    for frame in log.frames if log is not None else ():
        frame.moment = frame.moment or stamps[frame.line - 1]
    return log


def read_har(body: str) -> Intake | None:
    """Read the answers of a language model among the entries of a HAR file, each with its request."""
    whole = whole_object(body) if '"entries"' in body else {}
    file = object_of(unfinished_value(body) if whole is None else whole)
    entries = object_of(file.get("log")).get("entries")
    if not isinstance(entries, list):
        return None
    answers = [answer for entry in entries if (answer := _har_answer(object_of(entry))) is not None and answer.usable]
    why = f"It is a HAR file of {number(len(entries), 'request')}, {len(answers)} of them answered by a language model."
    advice = "Save the network panel again with content, and with the request to the model in it."
    made = Intake(kind="json_response", title="HAR file without a model's answer", advice=advice)
    made = _one_answer(answers) if answers else made
    made.why = (why, *made.why)
    made.warnings = (*((_CUT_JSON,) if whole is None else ()), *made.warnings)
    return made


def _har_answer(entry: Payload) -> Intake | None:
    events = [one for one in objects_of(entry.get("_eventSourceMessages")) or [] if isinstance(one.get("data"), str)]
    text = _har_text(entry)
    if not text:
        text = "".join([f"data: {one['data']}\n\n" for one in events])
    whole = whole_object(text)
    log = _log_of(text if whole is None else whole)
    told = [one for one in events if one["data"] != "[DONE]"]
    if log is not None and len(told) == len(log.frames):
        for frame, event in zip(log.frames, told, strict=True):
            frame.moment = moment_of(event)
    found = log_intake(log)
    sent = object_of(object_of(entry.get("request")).get("postData")).get("text")
    asked = whole_object(sent) if isinstance(sent, str) else None
    if found is not None and asked is not None and is_request(asked):
        for output in found.outputs:
            output.request = merged_request(output.request, request_of(asked))
    return found


def _har_text(entry: Payload) -> str:
    content = object_of(object_of(entry.get("response")).get("content"))
    text = content.get("text")
    if not isinstance(text, str) or content.get("encoding") != "base64":
        return text if isinstance(text, str) else ""
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _one_answer(answers: list[Intake]) -> Intake:
    """Return the first answer of a HAR file; where there are more, one with the outputs of all."""
    made = answers[0]
    made.warnings += (_HAR_SECRETS,)
    if len(answers) == 1:
        return made
    for place, answer in enumerate(answers, 1):
        for output in answer.outputs:
            output.label = f"answer {place}" + (f", {output.label}" if output.label else "")
    made.outputs = tuple([output for answer in answers for output in answer.outputs])
    made.title, made.facts = f"HAR file, {number(len(answers), 'answer')}", ()
    other = [warn for answer in answers for warn in answer.warnings if warn.code != "several"]
    made.warnings = tuple(dict.fromkeys([*several_outputs_warning(len(made.outputs)), *other]))
    return made


def log_intake(log: Log | None) -> Intake | None:
    """Say what a log is worth: raw output rebuilt, a parsed stream kept, or the reason why there is neither."""
    if log is None:
        return None
    server, sign = (log.family.server, None) if log.family.server else _server_of(log.payloads)
    if log.family.read is not None:
        found = raw_intake(log)
    elif log.family.parsed:
        found = chat_intake(log)
        found.warnings = (*log.damage(), *found.warnings)
    else:
        advice = log.family.verdict if log.frames else "It holds no chunk at all. Paste the whole log."
        found = log.intake(advice, warnings=tuple(log.damage()))
    verb = "look like" if log.family.framed or log.family.error else "are"
    found.why = (log.shape, f"Its keys {verb} those of {log.family.name}.", *((sign,) if sign else ()))
    found.server = server
    return found


def _server_of(payloads: Iterable[Payload]) -> tuple[str | None, str | None]:
    """Return the server with the most signs and the evidence as a sentence; (None, None) without any."""
    seen = list(payloads)
    signs: dict[str, dict[str, None]] = {}
    for payload in seen[:_LOOKED_AT] + seen[_LOOKED_AT:][-3:]:
        for server, sign in _signs(payload):
            signs.setdefault(server, {})[sign] = None
    if not signs:
        return None, None
    best = max(signs, key=lambda server: len(signs[server]))
    named = ", ".join(f"`{sign}`" for sign in list(signs[best])[:4])
    return best, f"{named} {'points' if len(signs[best]) == 1 else 'point'} to {best}."


def _signs(payload: Payload) -> Iterator[tuple[str, str]]:
    yield from [(server, key) for key, server in _SIGNS.items() if key in payload]
    mark = payload.get("system_fingerprint")
    if isinstance(mark, str):
        yield from [(server, "system_fingerprint") for pattern, server in _FINGERPRINTS if pattern.match(mark)]
    name = payload.get("id")
    if isinstance(name, str) and _HEX_ID.fullmatch(name):
        yield "SGLang", "id"
    for choice in (choices_of(payload) or [])[:4]:
        yield from [(server, key) for key, server in _CHOICE_KEYS.items() if key in choice]
        part = choice.get("delta", choice.get("message"))
        if isinstance(part, dict) and str(name).startswith("chatcmpl-"):
            yield from [(server, key) for key, server in _DELTA_KEYS.items() if key in part]


# Readers of files whose name says what they hold.
NAMED: dict[str, Reader] = {".case.json": _named_case, ".cases.json": _corpus_intake}
# In the order in which they are tried, the surest first.
READERS: tuple[Reader, ...] = (
    _read_curl_trace,
    _read_json,
    _read_case_lines,
    _read_wrapped,
    read_logged_lines,
    read_har,
    read_events,
    lambda body: log_intake(object_log(body)) if "{" in body else None,
    _read_cut_json,
)
