"""POST /intake: what was typed or opened is recognised and named, and nothing is run.

htmx asks while somebody pastes and gets the panel; without script a button posts the form, which comes back with it.
"""

from __future__ import annotations

from flask import Response

from webapp.htmx import is_partial, render
from webapp.page.contexts import form_context
from webapp.page.form import FormError
from webapp.page.intake_form import look_at
from webapp.page.views import blueprint, posted_file, posted_setup, refused, take_tokenizer
from webapp.security import TooLarge


@blueprint.post("/intake")
def intake() -> Response:
    """The panel, or the whole form with it."""
    setup = posted_setup()
    try:
        take_tokenizer(setup)
        look_at(setup, posted_file("file"))
    except (FormError, TooLarge) as error:
        return refused(setup, error)
    context = form_context(setup, "edit")
    if is_partial():
        return render("_intake.html", **context)
    return render("inspect.html", **context, heading="What is this?", heading_note="not run")
