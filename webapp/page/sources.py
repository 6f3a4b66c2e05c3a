"""Which case a request speaks of: one it carries, an example, or a stored one."""

from __future__ import annotations

from flask import abort, request

from parsers.cases.io import loads
from parsers.cases.model import Case, CaseError
from webapp.formats.folder import with_folder_format
from webapp.page.examples import Example, examples
from webapp.page.form import FormError
from webapp.page.services import services
from webapp.store import Gone, StoredCase


def source_case() -> Case:
    """The case of the form that was posted. Raises FormError where it carries and names none."""
    if text := request.form.get("case", ""):
        return carried(text)
    found = named(request.form.get("source", ""))
    if found is None:
        raise FormError("text", "There is no case to share.")
    return found


def carried(text: str) -> Case:
    """A case that a page carried in a hidden field or a private link."""
    try:
        return with_folder_format(loads(text), services().settings)
    except CaseError as error:
        raise FormError("text", f"The case of this page cannot be read. {error}") from error


def named(source: str) -> Case | None:
    """The case called `example:NAME` or `case:ID`; None for anything else."""
    kind, _, name = source.partition(":")
    if kind == "example":
        return find_example(name).case
    return opened_case(name) if kind == "case" else None


def find_example(name: str) -> Example:
    """The example of that name, or 404."""
    found = examples().get(name)
    if found is None:
        abort(404, "There is no example of that name.")
    return found


def opened_case(case_id: str) -> Case:
    """The case stored under an id, or 404, or 410."""
    return services().runner.opened(find_case(case_id).body)


def is_stored(case_id: str) -> bool:
    """Whether a case is stored under an id."""
    try:
        return services().store.get(case_id) is not None
    except Gone:
        return False


def find_case(case_id: str) -> StoredCase:
    """The stored case, or 404, or 410 once it was deleted."""
    try:
        found = services().store.get(case_id)
    except Gone as gone:
        abort(410, f"This case was deleted on {gone.deleted[:10]}.")
    if found is None:
        abort(404, "There is no case at this address.")
    return found
