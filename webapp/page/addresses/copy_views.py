"""What the copy buttons of a run ask for, as text: the message, the step and the machine."""

from __future__ import annotations

from flask import Response, abort, request

from parsers.cases.jsontext import utf8
from webapp.page.addresses.subjects import Subject, answer_of, at_every_subject
from webapp.page.inspect.copied import COPIED, copied
from webapp.page.inspect.inspect_page import read_state, view_of
from webapp.services import services


@at_every_subject("copy", "/<what>")
def copy(subject: Subject, what: str) -> Response:
    """A value of a run at the step and under the chunking of the address."""
    if what not in COPIED:
        abort(404, f"There is nothing to copy of that name; there are {', '.join(COPIED)}.")
    state = read_state(request.values)
    text = copied(view_of(services().runner, subject.case, state).run, what, state.step)
    return answer_of(subject, Response(utf8(text), mimetype="text/plain"))
