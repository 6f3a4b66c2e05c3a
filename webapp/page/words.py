"""Words of the page that more than one template uses: the key sheet and the legend."""

from __future__ import annotations

KEYS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("←", "→"), "previous, next step"),
    (("Home", "End"), "first, last step"),
    (("PgUp", "PgDn"), "50 steps back, on"),
    (("[", "]"), "previous, next state change"),
    ((",", "."), "previous, next emission (also p and n)"),
    (("{", "}"), "previous, next finding"),
    (("d",), "next chunking that diverges"),
    (("Space",), "play or pause, while the focus is on the step controls"),
    (("g",), "go to a step"),
    (("/",), "filter the events"),
    (("1 … 6",), "go to a pane"),
    (("Ctrl ⏎",), "run, also inside the text area"),
    (("d", "D"), "next, previous place where two compared replays part"),
    (("Esc",), "close, or clear the selection"),
    (("?",), "this sheet"),
)
ROLES: tuple[tuple[str, str], ...] = (
    ("content", "text for the reader"),
    ("reasoning", "what the model thought"),
    ("name", "the name of a called tool"),
    ("arguments", "the arguments of a call"),
    ("marker", "structure of the format, seen by nobody"),
    ("held", "seen but not let go yet; the step says why"),
    ("dropped", "reaches nobody; the reason is with it"),
)
# What the token strip shows besides: the class of the sample, its text, and what it means.
CHIPS: tuple[tuple[str, str, str], ...] = (
    ("chip chip-pending", "F0 9F …", "no text yet: these bytes wait for the rest of their character"),
    ("chip chip-lost", "F0 9F", "bytes that the decode policy never sends"),
    ("chip chip-skipped", "<s>", "id only: the decode options leave the text out, or cut it at a stop string"),
    ("chip chip-unknown", "id 99", "no text: the vocabulary does not have this id, or the token is empty"),
    ("token special", "<s>", "a token that is special or added to the vocabulary"),
    ("token revised", "text", "the decoder took back what it had made of these bytes"),
)
