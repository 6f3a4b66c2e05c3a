"""The parts that views work with, built by the application factory."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app

from webapp.jobs.searches import Searches
from webapp.runs.held import HeldRuns
from webapp.runs.runner import Runner
from webapp.settings import Settings
from webapp.store import CaseStore
from webapp.tokenizers.hub import Downloads

EXTENSION = "inspector"


@dataclass(slots=True)
class Services:
    """Settings, the stored cases, the runner, the posted runs, the searches, and the downloads from the hub."""

    settings: Settings
    store: CaseStore
    runner: Runner
    held: HeldRuns
    searches: Searches
    hub: Downloads


def services() -> Services:
    """The services of the running application."""
    found: Services = current_app.extensions[EXTENSION]
    return found
