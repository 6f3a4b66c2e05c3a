"""All views of the page on one blueprint: importing a module of views is what puts them there."""

from __future__ import annotations

from webapp.page import (
    compare,
    downloads,
    format_views,
    intake_views,
    search_views,
    shared,
    template_views,
    tokenizer_views,
)
from webapp.page.views import blueprint

__all__ = [
    "blueprint",
    "compare",
    "downloads",
    "format_views",
    "intake_views",
    "search_views",
    "shared",
    "template_views",
    "tokenizer_views",
]
