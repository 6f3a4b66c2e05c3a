"""Links that are followed from elsewhere: they begin with the public address of the server, where one is set.

Paths of `url_for` have the path of that address already (`webapp.mounting`), those of `request.path` have not.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request, url_for

from webapp.services import services


def public_base() -> str:
    """What a path of `url_for` is put behind, without a slash at its end."""
    public = urlsplit(services().settings.public_url or request.host_url)
    return f"{public.scheme}://{public.netloc}"


def public_root() -> str:
    """What an address of this application is put behind, without a slash at its end."""
    return (services().settings.public_url or request.url_root).rstrip("/")


def case_link(case_id: str) -> str:
    """The permalink of a case, for a page."""
    return public_base() + url_for("page.case", case_id=case_id)
