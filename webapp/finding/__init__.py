"""Searches for a failing chunking, each in a process of its own: started, watched, cancelled, kept for a while."""

from __future__ import annotations

from webapp.finding.failure import Failure, SearchError
from webapp.finding.job import Job
from webapp.finding.jobs import Busy, Jobs

__all__ = ["Busy", "Failure", "Job", "Jobs", "SearchError"]
