"""What runs in somebody else's interpreter: the worker and its adapters, the standard library of Python 3.9 alone.

=======================  ==============================================================================================
engine_worker.py         the loop that speaks docs/engine-protocol.md; started as a file, with the name of an adapter
line_trace.py            which lines of its source a step ran
sent_by.py               which of them put a text into what was sent, and which returned it
first_made.py            where a character was first to be seen, among those that it was sent beside
line_cover.py            which lines of its source ran at all, of those that could
executed_lines.py        how many lines of Python something executes
state_watch.py           what a parser keeps in its attributes, step by step
token_table.py           the tokens of a run as a tokenizer, for parsers that ask one
mistral_tokens.py         a tokenizer of Mistral's own, for that
adapter_vllm.py          vLLM's parsers, under the code of its chat server; plugin files of --tool-parser-plugin
adapter_vllm_rust.py     vLLM's parsers in Rust, by themselves
adapter_sglang.py        SGLang's parsers, called as its chat server calls them, with torch or without
adapter_lmdeploy.py      LMDeploy's, by its ResponseParser, with torch or without
adapter_mlx.py           mlx-lm's, under the loop of its server
adapter_harmony.py       openai-harmony's StreamableParser
adapter_mistral.py       mistral-common, which reads whole outputs
adapter_transformers.py  transformers' ResponseParser, by a response template
adapter_class.py         a class of somebody's own
adapter_installed.py     which of these an interpreter has something for
=======================  ==============================================================================================
"""
