"""Tokenizers from the Hugging Face hub: two data files of a repository, fetched in a process of their own.

Only where the operator allows it (the setting `hub`), never in the thread of a request, and never with a token: what is
gated is downloaded by its owner and put into a folder. No code of a repository is fetched, let alone run.
"""

from __future__ import annotations

from webapp.hub.job import Job
from webapp.hub.jobs import HubJobs
from webapp.hub.names import repository

__all__ = ["HubJobs", "Job", "repository"]
