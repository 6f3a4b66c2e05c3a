"""Redaction before sharing: the case before and after. Nothing is stored here; the next button says what it does."""

from __future__ import annotations

from flask import Response

from webapp.jobs.redacting import redact
from webapp.page.addresses.subjects import Subject, at_every_subject, render
from webapp.page.form.setup import case_line
from webapp.page.sharing.redacted_page import redacted_page
from webapp.services import services


@at_every_subject("redact")
def redact_page(subject: Subject) -> Response:
    """A case without what it says, beside the one before."""
    job = services().searches.known(subject.case)
    made = redact(subject.case, services().settings, found=None if job is None else job.result)
    return render("redact.html", shown=redacted_page(made, case_line), subject=subject)
