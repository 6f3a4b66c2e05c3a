"""Model families as vllm.rs names them: which model types belong to one, and which parser its models are read with.

A name is a `model_type` of a config.json, an architecture, or the family's own name; spelling is compared without case.
Formats list further types as hints of their own (`Format.models`). Where the family table of vllm.rs (as of 2026-05)
sends models to a grammar they do not write, the grammar they do write stands here:

* Qwen2.5-Coder writes the JSON of the other Qwen2.5 models, though its id says coder;
* plain Mistral is read with mistral, not with llama, although it shares that architecture;
* Gemma 4 has a grammar of its own;
* DeepSeek V3.2 (model type deepseek_v32) is left to its own format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from parsers.formats.model import Format, builtin_formats, policy_values
from parsers.machine.machine import Machine, Programs
from parsers.selection.claims import claiming_formats, first_meant, has_calls, is_bare, reasoning_formats
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import UsageError
from parsers.vocabulary.words import listed

CODER = ("coder", "qwen3.5", "qwen3.6")
_NOT_CODER = "qwen2"
_CODER_PARSER = "qwen_coder"
_PYTHON_PARSER = "pythonic"


@dataclass(frozen=True, slots=True)
class _Family:
    """A ModelType of vllm.rs. `coder`: a model id that contains one of CODER is read with qwen_coder instead."""

    name: str
    parser: str
    types: tuple[str, ...]
    coder: bool = False

    @property
    def parsers(self) -> tuple[str, ...]:
        """The parsers its models may be read with, the usual one first."""
        return (self.parser, _CODER_PARSER) if self.coder else (self.parser,)


FAMILIES = (
    _Family("LLaMa", "llama", ("llama", "llama2", "llama3", "LlamaForCausalLM", "IQuestCoderForCausalLM")),
    _Family("LLaMa4", "pythonic", ("llama4", "llama4_text", "Llama4ForCausalLM", "Llama4ForConditionalGeneration")),
    _Family("Mistral", "mistral", ("mistral", "mixtral", "MistralForCausalLM", "MixtralForCausalLM")),
    _Family("Mistral3VL", "mistral", ("mistral3", "Mistral3ForConditionalGeneration")),
    _Family("Qwen3", "qwen", ("qwen2", "qwen3", "Qwen2ForCausalLM", "Qwen3ForCausalLM"), coder=True),
    _Family("Qwen3MoE", "qwen", ("qwen2_moe", "qwen3_moe", "Qwen2MoeForCausalLM", "Qwen3MoeForCausalLM"), coder=True),
    _Family(
        "Qwen3VL",
        "qwen",
        (
            *("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "Qwen2VLForConditionalGeneration"),
            *("Qwen2_5_VLForConditionalGeneration", "Qwen3VLForConditionalGeneration"),
            "Qwen3VLMoeForConditionalGeneration",
        ),
        coder=True,
    ),
    _Family("Qwen3_5", "qwen_coder", ("qwen3_5", "qwen35", "Qwen3_5ForCausalLM", "Qwen3_5ForConditionalGeneration")),
    _Family(
        "Qwen3_5MoE",
        "qwen_coder",
        (
            *("qwen3_5_moe", "qwen35moe", "Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration"),
            *("qwen3_next", "Qwen3NextForCausalLM", "Qwen3NextForConditionalGeneration"),
        ),
    ),
    _Family("Gemma", "json", ("gemma", "gemma2", "GemmaForCausalLM", "Gemma2ForCausalLM")),
    _Family("Gemma3", "json", ("gemma3", "gemma3_text", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration")),
    _Family("Gemma4", "gemma4", ("gemma4", "gemma4_text", "Gemma4ForCausalLM", "Gemma4ForConditionalGeneration")),
    _Family("Phi", "qwen", ("phi", "phi3", "PhiForCausalLM", "Phi3ForCausalLM")),
    _Family("Phi4", "qwen", ("phi4", "Phi4ForCausalLM")),
    _Family("GLM4", "glm47_moe", ("glm4", "Glm4ForCausalLM")),
    _Family("GLM4MoE", "glm47_moe", ("glm4_moe", "Glm4MoeForCausalLM")),
    _Family("GLM4MoeLite", "glm47_moe", ("glm4_moe_lite", "Glm4MoeLiteForCausalLM")),
    _Family("Yi", "qwen", ("yi", "YiForCausalLM")),
    _Family("StableLM", "qwen", ("stablelm", "StableLmForCausalLM")),
    _Family("DeepSeek", "deepseek", ("deepseek", "deepseek_v3", "DeepseekV3ForCausalLM")),
    _Family("MiniMax", "minimax_m2", ("minimax", "minimax_m2", "MiniMaxForCausalLM", "MiniMaxM2ForCausalLM")),
)

BY_TYPE = {spelling.casefold(): family for family in FAMILIES for spelling in (family.name, *family.types)}


def _family_of(model_type: str) -> _Family | None:
    """The family a model type or architecture belongs to."""
    return BY_TYPE.get(model_type.casefold())


# Parsers by name: the built-in formats, their aliases, and how one is chosen.
#
# Selection is: an enforced name, else the formats that read a complete call of the output, else those whose reasoning
# it has, else evidence from the model (type, then id), else from the tokenizer's vocabulary, else telling strings of
# the output, else passthrough. Where several formats read the same call or reasoning, the rest of the evidence decides
# between them only. It always says why.

_PYTHON_CALLS = re.compile(r"^\[[A-Za-z_]\w*\(", re.MULTILINE)


@dataclass(slots=True)
class Evidence:
    """Holds what may decide: a name the user enforces, a call in the output, the model, its vocabulary, and hints."""

    enforced: str | None = None
    model_type: str | None = None
    model_id: str | None = None
    vocabulary: Collection[str] = ()
    text: str = ""
    tools: Collection[str] = ()
    """The names of the declared tools."""
    guided: bool = False
    """Whether the request asks for calls, so that a bare list of them may come from the server's grammar."""


@dataclass(slots=True)
class Selection:
    """The chosen parser and the reasons, most telling first."""

    name: str
    reasons: tuple[str, ...]


def names() -> list[str]:
    """The names of the built-in parsers."""
    return list(builtin_formats())


def resolve(name: str) -> str:
    """The built-in name for a name or alias. UsageError lists the valid names."""
    found = known_format(name.strip())
    if found is None:
        raise UsageError(f"there is no parser {name.strip()!r}; valid parsers: {', '.join(names())}, or auto")
    return found.name


def get_format(name: str) -> Format:
    """The built-in format of that name or alias."""
    return builtin_formats()[resolve(name)]


def known_format(name: str) -> Format | None:
    """The built-in format of that name or alias, or None."""
    return next((fmt for fmt in builtin_formats().values() if name == fmt.name or name in fmt.aliases), None)


def policies(fmt: Format, overrides: Mapping[str, str] | None = None) -> dict[str, str]:
    """Every policy's value: the format's own, then the overrides. UsageError names what is wrong."""
    values = policy_values()
    for key, value in (overrides or {}).items():
        if key not in values:
            raise UsageError(f"there is no policy {key!r}; valid policies: {', '.join(values)}")
        if value not in values[key]:
            raise UsageError(f"policy {key} cannot be {value!r}; valid values: {', '.join(values[key])}")
    return {**fmt.policy.model_dump(), **(overrides or {})}


def build(fmt: Format, policy: Mapping[str, str] | None = None) -> Machine:
    """A new parser for the format under these policies."""
    values = policies(fmt, policy)
    return Machine(fmt, values, _programs(fmt, values))


def maker(fmt: Format, policy: Mapping[str, str] | None = None) -> Callable[[], StreamParser]:
    """Return what makes new parsers for the format under these policies; they share what they compile."""
    values = policies(fmt, policy)
    programs = _programs(fmt, values)
    return lambda: Machine(fmt, values, programs)


def _programs(fmt: Format, values: Mapping[str, str]) -> Programs:
    """Return what is compiled of a format under policies: of a built-in one, all its parsers in this process share
    it."""
    return _shared(fmt.name, tuple(values.items())) if builtin_formats().get(fmt.name) is fmt else {}


@lru_cache(maxsize=64)
def _shared(name: str, values: tuple[tuple[str, str], ...]) -> Programs:
    return {}


def select(evidence: Evidence) -> Selection:
    """Choose a parser and say why."""
    if evidence.enforced and evidence.enforced.strip() not in ("", "auto"):
        name = resolve(evidence.enforced)
        alias = f" (an alias of {name})" if name != evidence.enforced.strip() else ""
        return Selection(name, (f"{evidence.enforced.strip()}{alias} was asked for.",))
    claiming = [get_format(name) for name in claiming_formats(evidence.text, evidence.tools)]
    if evidence.guided:
        claiming = [fmt for fmt in claiming if not is_bare(fmt)]
    if claiming:
        return _among_claiming(evidence, claiming)
    reasoning = [get_format(name) for name in reasoning_formats(evidence.text)]
    return _among_reasoning(evidence, reasoning) if reasoning else _without_claim(evidence)


def _among_reasoning(evidence: Evidence, reasoning: Sequence[Format]) -> Selection:
    """Choose among the formats whose reasoning stands in an output without a complete call; for want of more, one that
    reads nothing else, if there is one."""
    whose = reasoning[0].name if len(reasoning) == 1 else f"{len(reasoning)} formats"
    read = f"The output has the reasoning markers of {whose}, and no complete call."
    for rule in (_by_type, _by_id, _by_vocabulary, _by_text):
        if (found := rule(evidence, reasoning)) is not None:
            return Selection(found.name, (*found.reasons, read))
    marked = [fmt for fmt in builtin_formats().values() if not is_bare(fmt)]
    if (found := _by_text(evidence, marked)) is not None:
        return found
    spoken = [fmt for fmt in reasoning if fmt.models.tokens and _has_tokens(evidence.text, fmt)]
    plain = [fmt for fmt in reasoning if not has_calls(fmt)]
    return Selection((spoken or plain or reasoning)[0].name, (read,))


def _without_claim(evidence: Evidence) -> Selection:
    """Choose by what is known of the model, else by what is telling in an output that has no complete call."""
    formats = list(builtin_formats().values())
    for rule in (_by_type, _by_id, _by_vocabulary):
        if (found := rule(evidence, formats)) is not None:
            return found
    found = _by_text(evidence, formats)
    if found is None:
        return Selection("passthrough", ("Neither model, vocabulary nor output points to a format.",))
    return Selection(found.name, (*found.reasons, "No model or vocabulary was given that is known."))


def _among_claiming(evidence: Evidence, claiming: Sequence[Format]) -> Selection:
    """Choose among the formats that read a call of the output: what is known of the model only decides between them."""
    verb = "read" if len(claiming) > 1 else "reads"
    read = f"The output has a complete call that {listed([fmt.name for fmt in claiming])} {verb}."
    for rule in (_by_type, _by_id, _by_vocabulary, _by_text):
        if (found := rule(evidence, claiming)) is not None:
            return Selection(found.name, (*found.reasons, read))
    return Selection(_most_telling(evidence, claiming).name, (read,))


def _has_tokens(text: str, fmt: Format) -> bool:
    return all(token in text for token in fmt.models.tokens)


def _most_telling(evidence: Evidence, among: Sequence[Format]) -> Format:
    """The format with most of its telling tokens in the output, all of them; else the first."""
    known = [fmt for fmt in among if fmt.models.tokens and _has_tokens(evidence.text, fmt)]
    return max(known or among, key=lambda fmt: len(fmt.models.tokens) if known else 0)


def _by_type(evidence: Evidence, among: Sequence[Format]) -> Selection | None:
    """The family's parser, or the first format that lists the type; among several the model id decides, or the text."""
    wanted = (evidence.model_type or "").strip()
    family = _family_of(wanted)
    hinted = [
        fmt.name
        for fmt in builtin_formats().values()
        for one in fmt.models.model_type
        if one.casefold() == wanted.casefold() or (family is not None and _family_of(one) is family)
    ]
    asked = {fmt.name for fmt in among}
    known = [one for one in dict.fromkeys([*(family.parsers if family else ()), *hinted]) if one in asked]
    if not wanted or not known:
        return None
    first = f"Model type {wanted} is listed for {' and '.join(known)}."
    formats = [get_format(name) for name in known]
    chosen = _by_family(evidence, family) or _by_id(evidence, formats) or _first_in_text(evidence, formats)
    if chosen is not None and chosen.name in known and len(known) > 1:
        return Selection(chosen.name, (first, *chosen.reasons))
    return Selection(known[0], (first,))


def _by_family(evidence: Evidence, family: _Family | None) -> Selection | None:
    """Families whose model id says which of two grammars the model writes."""
    model = (evidence.model_id or "").lower()
    part = next((part for part in CODER if part in model), None)
    if family is None or not family.coder or part is None or _NOT_CODER in model:
        return None
    return Selection(_CODER_PARSER, (f"The model id {evidence.model_id} contains {part!r}.",))


def _by_id(evidence: Evidence, among: Sequence[Format]) -> Selection | None:
    """The longest matching part of the model id wins."""
    model = (evidence.model_id or "").lower()
    hits = [
        (len(part), fmt.name, part)
        for fmt in among
        for part in fmt.models.id_contains
        if part in model and not any(other in model for other in fmt.models.id_excludes)
    ]
    if not hits:
        return None
    _, name, part = max(hits)
    return Selection(name, (f"The model id {evidence.model_id} contains {part!r}.",))


def _by_vocabulary(evidence: Evidence, among: Sequence[Format]) -> Selection | None:
    """The format with most of its telling markers in the vocabulary, all of them; where the output says nothing of it,
    one with the same markers of which the output does."""
    known = set(evidence.vocabulary)
    hits = [f for f in among if f.models.tokens and known >= set(f.models.tokens)]
    if not hits:
        return None
    found = max(hits, key=lambda fmt: len(fmt.models.tokens))  # the first of these
    first = f"The vocabulary has {', '.join(found.models.tokens)} as single tokens."
    alike = [fmt for fmt in among if _is_told(evidence.text, fmt, found.models.tokens)]
    told = None if _first_in_text(evidence, [found]) else _first_in_text(evidence, alike)
    return Selection(found.name, (first,)) if told is None else Selection(told.name, (first, *told.reasons))


def _is_told(text: str, fmt: Format, tokens: Sequence[str]) -> bool:
    """Return whether a format has all these markers, and a text what tells it by one of them."""
    told = (literal for literal in fmt.models.text if literal in text)
    return {*tokens} <= {*fmt.terminals.values()} and any(token in literal for literal in told for token in tokens)


def _first_in_text(evidence: Evidence, among: Sequence[Format]) -> Selection | None:
    """The format one of whose telling strings stands first in the output; the longest one there."""
    hits = [
        (-at, len(text), fmt.name, text)
        for fmt in among
        for text in fmt.models.text
        if (at := first_meant(evidence.text, text)) >= 0
    ]
    if not hits:
        return None
    at, _, name, text = max(hits)
    return Selection(name, (f"The output has {text!r} at character {-at}.",))


def _by_text(evidence: Evidence, among: Sequence[Format]) -> Selection | None:
    """A telling string of a format, or a line that begins with a list of Python calls."""
    found = _first_in_text(evidence, among)
    calls = _PYTHON_CALLS.search(evidence.text)
    if found is not None or calls is None or not any(fmt.name == _PYTHON_PARSER for fmt in among):
        return found
    return Selection(_PYTHON_PARSER, (f"The output has a list of Python calls at character {calls.start()}.",))
