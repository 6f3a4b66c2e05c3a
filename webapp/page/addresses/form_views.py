"""The addresses of the form besides POST /run: nothing is run here.

POST /intake recognises and names what was typed or opened. htmx asks while somebody pastes and gets the panel; without
script a button posts the form, which comes back with it.

POST /template checks the template that was typed, or puts an example in its place (`template_do` is check or
example:NAME). htmx gets the part, or only the report where it asks for that; without script the whole form comes back.
"""

from __future__ import annotations

from flask import Response, request

from webapp.engines import RESPONSE_TEMPLATE
from webapp.htmx import is_partial, render
from webapp.page.addresses.inspect_views import posted_file, posted_setup, refused, show_form, take_tokenizer
from webapp.page.addresses.subjects import blueprint
from webapp.page.form.form_case import look_at
from webapp.page.form.form_page import form_page, template_examples
from webapp.page.form.setup import FormError, read_setup
from webapp.page.inspect.inspect_page import About
from webapp.security import TooLarge
from webapp.services import services


@blueprint.post("/intake")
def intake() -> Response:
    """The panel, or the whole form with it."""
    setup = posted_setup()
    try:
        take_tokenizer(setup)
        look_at(setup, posted_file("file"))
    except (FormError, TooLarge) as error:
        return refused(setup, error)
    if is_partial():
        return render("_intake.html", form=form_page(setup, "edit", services().settings))
    return show_form(setup, About("edit", "What is this?", "not run"))


@blueprint.post("/template")
def template() -> Response:
    """The template part again, with what there is to say about it."""
    setup = read_setup(request.form)
    setup.parser.parser = RESPONSE_TEMPLATE
    if found := template_examples().get(request.form.get("template_do", "").removeprefix("example:")):
        setup.parser.template, setup.request.prompt_tail = found.text, found.prefix
    if not is_partial():
        return show_form(setup, About("edit", "Response template", "not run"))
    report = request.headers.get("HX-Target", "").endswith("#template-report")
    form = form_page(setup, "edit", services().settings)
    return render("_template_report.html" if report else "_template.html", form=form)
