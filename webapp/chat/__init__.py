"""Chat templates: what the model's own template makes of the calls that a parser read.

=============  =====================================================================================================
child          runs a template, in a process with hard limits; imports nothing of ours
host           starts that process, ends it at a deadline, and says in one sentence what went wrong
template       the chat template of a tokenizer, and the rerendering of a case by it
=============  =====================================================================================================
"""

from __future__ import annotations

from webapp.chat.host import Host
from webapp.chat.template import rerender_for, rerender_of

__all__ = ["Host", "rerender_for", "rerender_of"]
