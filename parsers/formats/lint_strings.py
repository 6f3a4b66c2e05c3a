"""Which strings a format cannot say: where a value is not quoted or escaped, the text that ends it cannot be in it.

Such a format is not wrong, and models use it; but a program that writes a file through it will meet the file that
holds its closing tag. Whoever designs a format should know, and choose an escape while there is time.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.formats.lint_static import Codecs, LintFinding, pointer
from parsers.formats.model import Format


def check_strings(fmt: Format, codecs: Codecs) -> Iterator[LintFinding]:
    """One finding for each state whose codec reads strings that cannot hold some text."""
    for name, state in fmt.states.items():
        if state.codec is None or (facts := codecs.get(state.codec.name)) is None:
            continue
        if facts.check_options(state.codec.options):
            continue
        closers = facts.closers(state.codec.options)
        if closers:
            shown = " or ".join([repr(text) for text in closers])
            text = (
                f"In {name} a string ends at {shown} and cannot hold it, because {state.codec.name} values have no "
                "escape: nothing to do if no string can hold it, else quote the values."
            )
            yield LintFinding("cannot_round_trip", "warning", pointer("states", name, "codec"), text)


def closers_of(fmt: Format, codecs: Codecs | None = None) -> list[tuple[str, str]]:
    """(state, text) for everything that ends a value of this format wherever it stands."""
    if codecs is None:
        from parsers.arguments import CODECS  # here, so that formats can be read and drawn without the codecs

        codecs = CODECS
    found = []
    for name, state in fmt.states.items():
        if state.codec is not None and (facts := codecs.get(state.codec.name)) is not None:
            found += [(name, text) for text in facts.closers(state.codec.options)]
    return found
