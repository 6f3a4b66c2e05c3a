"""The inspector below a path of its host, as `https://inspector.example/team`: where a request says it is, and links.

A proxy may send the whole path or take its beginning off; both are understood, and so are probes that reach the
server itself. Paths below SCRIPT_NAME are what WSGI has for it: all links are made from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def public_path(settings: Settings) -> str:
    """The path of the public address, as WSGI has it, such as "/team"; "" where the inspector has a host of its own."""
    return unquote(urlsplit(settings.public_url or "").path.rstrip("/")).encode().decode("latin-1")


def placed(environ: WSGIEnvironment, root: str) -> WSGIEnvironment:
    """The request as one to an application that stands at `root`, whichever way a proxy passed it on."""
    if environ.get("SCRIPT_NAME", "") == root:
        return environ
    path: str = environ.get("PATH_INFO", "")
    below = path.removeprefix(root)
    is_below = len(below) < len(path) and below[:1] in ("", "/")
    return {**environ, "SCRIPT_NAME": root, "PATH_INFO": below if is_below else path}


def mounted(application: WSGIApplication, settings: Settings) -> WSGIApplication:
    """The application, below the path of its public address."""
    root = public_path(settings)

    def application_below(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return application(placed(environ, root), start_response)

    return application_below if root else application
