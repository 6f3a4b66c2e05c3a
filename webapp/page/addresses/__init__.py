"""The addresses of the pages: views read the request, call pure functions, and choose what is sent back.

All views are on one blueprint: importing a module of views is what puts them there.
"""

from __future__ import annotations

from webapp.page.addresses import (
    compare_views,
    comparison_views,
    copy_views,
    differ_views,
    engine_views,
    format_views,
    gallery_views,
    inspect_views,
    library_views,
    permalink_views,
    redact_views,
    search_views,
    share_views,
    sweep_views,
    tokenizer_views,
)
from webapp.page.addresses.subjects import blueprint

__all__ = [
    "blueprint",
    "compare_views",
    "comparison_views",
    "copy_views",
    "differ_views",
    "engine_views",
    "format_views",
    "gallery_views",
    "inspect_views",
    "library_views",
    "permalink_views",
    "redact_views",
    "search_views",
    "share_views",
    "sweep_views",
    "tokenizer_views",
]
