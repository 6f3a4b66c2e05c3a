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
