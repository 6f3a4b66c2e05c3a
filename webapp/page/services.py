"""The parts that views work with, built by the application factory."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app

from webapp.page.running import Runner
from webapp.settings import Settings
from webapp.store import CaseStore

EXTENSION = "inspector"


@dataclass(slots=True)
class Services:
    """Settings, the stored cases, and the runner with its cache."""

    settings: Settings
    store: CaseStore
    runner: Runner


def services() -> Services:
    """The services of the running application."""
    found: Services = current_app.extensions[EXTENSION]
    return found
