"""The picture of a case that chat programs and trackers show beside its link: drawn once, and kept in the data folder.

Everything in it is short before it is drawn, and what would move, hide or pile up characters is spelled out, so that it
costs the same whatever stands in the case. Drawing takes about a tenth of a second, in the process that replays.
"""

from __future__ import annotations

import io
import os
import tempfile
import textwrap
import unicodedata
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from webapp.page.search.client_parts import Told
from webapp.page.sharing.embedded import Embedded
from webapp.settings import Settings

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

FOLDER = "pictures"
SIZE = 1200, 630  # what Open Graph readers expect
_EDGE, _INSIDE = 64, 20
_INK, _QUIET, _SURFACE, _RULE = "#16191d", "#59626c", "#ffffff", "#e1e4e8"
_SEVERITIES = {"error": "#b3261e", "warning": "#8a5000"}
_ROLES = {"nothing": "#59626c", "reasoning": "#6b3cc9", "name": "#0b57c4", "arguments": "#0a6b3b"}
_TITLE, _HEADLINE, _DELTA, _LINES = 70, 220, 26, 3  # characters, and lines of a headline
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "｜": "│"}  # the font lacks the bar of DeepSeek's markers


def picture_file(settings: Settings, case_id: str) -> Path:
    """Where the picture of a case is kept."""
    return settings.data_dir / FOLDER / f"{case_id}.png"


def keep_picture(settings: Settings, case_id: str, data: bytes) -> None:
    """Keep a picture, whole or not at all; where nothing can be written it is drawn again the next time."""
    place = picture_file(settings, case_id)
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(place)


def forget_picture(settings: Settings, case_id: str) -> None:
    """Delete the picture of a case that is deleted."""
    with suppress(OSError):
        picture_file(settings, case_id).unlink(missing_ok=True)


def drawn(shown: Embedded) -> bytes:
    """The picture, as PNG."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, _SURFACE)
    draw = ImageDraw.Draw(image)
    said = shown.said
    colour = _SEVERITIES.get(said.severity, _INK) if said is not None else _INK
    draw.rectangle((0, 0, 12, SIZE[1]), fill=colour)
    draw.text((_EDGE, 44), spelled(shown.title, _TITLE), font=_font(26), fill=_QUIET)
    words = said.headline if said is not None else shown.unsaid
    y = _lines(draw, spelled(words, _HEADLINE), 92, 38, colour, stroke=1)
    if said is not None and said.grounds and y < 220:
        y = _lines(draw, spelled(said.grounds, _HEADLINE), y + 8, 24, _QUIET)
    y = _deltas(draw, shown, y + 32, fails=colour == _SEVERITIES["error"])
    _told(draw, shown, y + 28)
    draw.line((_EDGE, SIZE[1] - 76, SIZE[0] - _EDGE, SIZE[1] - 76), fill=_RULE, width=2)
    facts = " · ".join(["Toolcall Inspector", *[spelled(value, 40) for _, value in shown.facts[:2]]])
    draw.text((_EDGE, SIZE[1] - 60), facts, font=_font(24), fill=_QUIET)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def spelled(text: str, most: int) -> str:
    """A text that is drawn: short, on one line, and without characters that act on others."""
    shown = [_ESCAPES.get(char) or (char if _is_plain(char) else f"\\u{ord(char):04x}") for char in text[: most + 1]]
    return "".join(shown[:most]) + ("…" if len(text) > most else "")


def _is_plain(char: str) -> bool:
    return char == " " or unicodedata.category(char)[0] in "LNPS"


@cache
def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont

    file = resources.files("webapp.page.sharing") / "fonts" / "JetBrainsMono-Regular.ttf"
    return ImageFont.truetype(io.BytesIO(file.read_bytes()), size, layout_engine=ImageFont.Layout.BASIC)


def _lines(draw: ImageDraw, words: str, y: int, size: int, colour: str, *, stroke: int = 0) -> int:
    """Draws a sentence in at most so many lines as there is room for; returns where it ends."""
    font, step = _font(size), int(size * 1.35)
    lines = textwrap.wrap(words, int((SIZE[0] - 2 * _EDGE) / font.getlength("n")), max_lines=_LINES, placeholder=" …")
    for number, line in enumerate(lines):
        draw.text((_EDGE, y + step * number), line, font=font, fill=colour, stroke_width=stroke, stroke_fill=colour)
    return y + step * len(lines)


def _deltas(draw: ImageDraw, shown: Embedded, y: int, *, fails: bool) -> int:
    """Draws the deltas as boxes, in at most two rows, with a cut between each two; returns where they end."""
    font, x, row = _font(26), _EDGE, 0
    for number, text in enumerate(shown.deltas):
        words = spelled(text, 2 * _DELTA if len(shown.deltas) < 2 else _DELTA) or "(nothing)"
        width = int(draw.textlength(words, font=font)) + 2 * _INSIDE
        if x + width > SIZE[0] - _EDGE and x > _EDGE:
            x, row = _EDGE, row + 1
        if row > 1:
            draw.text((SIZE[0] - _EDGE - 24, y + 60 + 12), "…", font=font, fill=_QUIET)
            break
        top = y + 60 * row
        draw.rounded_rectangle((x, top, x + width, top + 48), radius=6, outline=_RULE, width=2, fill="#f5f6f8")
        draw.text((x + _INSIDE, top + 8), words, font=font, fill=_INK)
        if number and x > _EDGE:
            draw.line((x - 8, top - 4, x - 8, top + 52), fill=_SEVERITIES["error"] if fails else _RULE, width=3)
        x += width + 16
    return y + 60 * (min(row, 1) + 1)


def _told(draw: ImageDraw, shown: Embedded, y: int) -> None:
    """Draws what a client gets, one message a line, as far as there is room."""
    font = _font(26)
    for label, parts in shown.told:
        if y > SIZE[1] - 76 - 40:
            return
        x = _EDGE + 150
        draw.text((_EDGE, y), spelled(label, 12), font=font, fill=_QUIET)
        for part in parts[:6] or [Told("nothing", "nothing")]:
            words = spelled(part.text, 44) + (" (never sent)" if part.lost else "")
            colour = _SEVERITIES["error"] if part.lost or part.wrong else _ROLES.get(part.role, _INK)
            if x + draw.textlength(words, font=font) > SIZE[0] - _EDGE:
                draw.text((x, y), "…", font=font, fill=_QUIET)
                break
            draw.text((x, y), words, font=font, fill=colour)
            x += int(draw.textlength(words, font=font)) + 24
        y += 42
