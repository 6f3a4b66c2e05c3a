"""Error pages in the look of the rest. What they say is decided in `webapp.security`; this adds what to do next."""

from __future__ import annotations

from flask import render_template
from flask.typing import ResponseReturnValue

ADVICE = {
    400: "Nothing was changed. Go back and try again.",
    403: "Nothing was changed.",
    404: (
        "If somebody sent you this address, it may be a private link cut short, or a case that lives on another"
        " server. Ask for the case file and open it here."
    ),
    410: "Ask whoever shared it for the case file.",
    413: "Your browser's Back button brings the text back. Shorten it, or have the limit raised.",
    500: "The text you sent is still in your browser: go back to it.",
}


def error_page(status: int, title: str, message: str) -> ResponseReturnValue:
    """The page for an error."""
    return render_template("error.html", status=status, title=title, message=message, advice=ADVICE.get(status)), status
