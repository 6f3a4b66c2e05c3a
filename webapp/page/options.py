"""What the setup form offers: parsers, tokenizers, chunkings, and the policies of the chosen parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsers.cases.engines import RECORDED
from parsers.formats.model import Format, Policy, builtin_formats, policy_values
from webapp.engines import RESPONSE_TEMPLATE
from webapp.engines.response_template.about import TITLE
from webapp.page.form import CHUNKINGS, Setup
from webapp.page.recorded_form import chunks_of, stream_words
from webapp.tokenizers import list_tokenizers


@dataclass(slots=True, frozen=True)
class Option:
    """One choice: its value in the form, its words on the page."""

    value: str
    words: str


@dataclass(slots=True, frozen=True)
class PolicyField:
    """One policy: its choices (the first is the format's own) and the parsers that know it."""

    key: str
    words: str
    description: str
    values: tuple[str, ...]
    formats: str


@dataclass(slots=True)
class Options:
    """Everything the selects of the form list; tokenizers under the heading of where they come from."""

    parsers: list[Option]
    tokenizers: dict[str, list[Option]]
    chunkings: list[Option]
    policies: list[PolicyField]


def _policy_fields(folder: Sequence[Format]) -> list[PolicyField]:
    formats = [*builtin_formats().values(), *folder]
    fields = []
    for key, values in policy_values().items():
        known = [fmt.name for fmt in formats if key in fmt.policies]
        description = Policy.model_fields[key].description or ""
        if known:
            fields.append(PolicyField(key, key.replace("_", " "), description, values, " ".join(known)))
    return fields


# Where a vocabulary comes from, as a heading of the list.
ORIGINS = {
    "embedded": "Built in",
    "none": "Built in",
    "package": "Installed packages",
    "upload": "Uploads",
    "folder": "Folders of this server",
    "hub": "From the hub",
}


OTHERS = "Others"


def _tokenizers(chosen: str) -> dict[str, list[Option]]:
    """The tokenizers by where they come from; one that a case names and that is not here stays choosable."""
    groups: dict[str, list[Option]] = {name: [] for name in (*ORIGINS.values(), OTHERS)}
    for info in list_tokenizers():
        groups[ORIGINS.get(info["kind"], OTHERS)].append(Option(info["name"], info["label"]))
    if chosen not in {option.value for listed in groups.values() for option in listed}:
        groups[OTHERS].append(Option(chosen, f"{chosen} (of this case)"))
    return {name: listed for name, listed in groups.items() if listed}


def options(setup: Setup, folder: Mapping[str, Format]) -> Options:
    """The choices for a form filled with `setup`, those of the formats folder among them; a parser of the case's own
    stays choosable."""
    parsers = [Option("auto", "auto: find out")]
    parsers += [Option(fmt.name, f"{fmt.name} ({fmt.title})") for fmt in builtin_formats().values()]
    parsers += [Option(fmt.name, f"{fmt.name} ({fmt.title}, formats folder)") for fmt in folder.values()]
    parsers.append(Option(RESPONSE_TEMPLATE, f"{RESPONSE_TEMPLATE} ({TITLE})"))
    if chunks := chunks_of(setup):
        parsers.append(Option(RECORDED, stream_words(chunks)))
    if setup.own_format or setup.parser not in {option.value for option in parsers}:
        others = [option for option in parsers if option.value != setup.parser]
        parsers = [*others, Option(setup.parser, f"{setup.parser} (of this case)")]
    chunkings = [Option(name, words) for name, (words, _) in CHUNKINGS.items()]
    return Options(parsers, _tokenizers(setup.tokenizer), chunkings, _policy_fields(list(folder.values())))
