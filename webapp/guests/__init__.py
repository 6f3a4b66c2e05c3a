"""Guests: parsers that are served by whoever asks, for as long as they ask, as the pytest plugin does from the process
of the tests. Nothing of a guest runs here, and nothing is kept of it (docs/decisions/167-pytest-plugin.md).

=============  ========================================================================================================
guest.py       a guest as an engine: replays are asked of it, and what it says is believed as little as of any engine
answers.py     the answers of a guest that come with a request, for those who cannot be asked in between
requests.py    what is asked about a case, and what is answered
tasks.py       check a case, find a smaller one, generate outputs
judged.py      what came of a case: its differences, the smallest chunking that shows them, the deltas around
alike.py       of what kind a failure is
narrowed.py    the smallest case that fails as a case does
signed.py      what failures of one bug have in common
=============  ========================================================================================================
"""
