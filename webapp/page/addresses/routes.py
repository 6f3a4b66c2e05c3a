"""All views of the page on one blueprint: importing a module of views is what puts them there."""

from __future__ import annotations

from webapp.page import format_views
from webapp.page.addresses import compare_views, form_views, search_views, share_views, tokenizer_views
from webapp.page.addresses.subjects import blueprint

__all__ = [
    "blueprint",
    "compare_views",
    "form_views",
    "format_views",
    "search_views",
    "share_views",
    "tokenizer_views",
]
