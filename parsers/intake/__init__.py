"""Intake: what was pasted, dropped or uploaded is recognised and named, never silently taken for model output.

The modules in the order in which the bytes pass them. Each imports only those above it.

    evidence           the answer: outputs, with facts (exact, assumed, lossy, missing), warnings and asks
    captures           the commands that record what is missing
    plain_text         bytes -> text (UTF-8, BOM, CRLF), escapes, halves of characters
    written_values     text -> values, as JSON writes them or Python prints them
    packing            compressed bytes: gzip, zlib, zstd
    layers             what tools put around a text, and how each comes off
    moments            time stamps -> when each part of a log came
    json_frames        text -> JSON objects, as event streams, lines and logs carry them
    surroundings       text -> the body, without HTTP, curl's noise, prefixes of log lines and prose
    requests           body -> the request beside the recording, and the rest
    token_bytes        log probabilities -> tokens
    envelopes          rows of batches, answers of HTTP, chunks of bytes -> the payloads in them
    closing_events     events of the Responses API -> what they say twice and not alike
    message_blocks     events of Anthropic's Messages -> where their blocks are numbered otherwise
    chat_dialects      events of the Responses and Messages APIs -> chat chunks
    content_blocks     blocks of a message, as every API names its parts -> chat answers
    library_dialects   what Vercel's AI SDK and LangChain send and keep -> chat chunks
    cohere_dialects    answers and events of Cohere's chat -> chat chunks
    vercel_lines       lines of AI SDK 4 -> parts of its streams
    cloud_dialects     answers and events of Bedrock and Gemini -> chat chunks
    api_families       payload -> its API: a table of shapes, with a reader for each that holds raw output
    api_logs           frames -> a log of one API, its damage, and the raw output rebuilt
    chat_streams       chat chunks -> what the server's parser made, and what still tells of the raw output
    attribute_lists    attributes of OpenTelemetry's JSON -> the object that they stand for
    curl_traces        dumps of curl --trace -> the log that came
    answers            logs and answers of APIs, by themselves or inside other JSON
    string_lists       deltas and texts as programs print them
    token_records      token ids, with or without texts
    tool_input_errors  errors of the AI SDK -> the calls that they quote
    litellm_logs       the log of LiteLLM -> the answers that it quotes
    told_logs          where a log ends that stands between people's words
    vllm_logs          outputs in vLLM's log, by request
    server_logs        lines of a server's log that quote an output
    quoted_outputs     errors, reports and conversations that quote an output
    client_objects     printed objects of client libraries -> chat chunks
    pretty_messages    conversations as LangChain prints them for people
    printed_values     objects as any program printed them, by the keys that they hold
    logged_values      objects that lines of a log hold
    yaml_spelling      a scalar of YAML -> its value, or the text that it is spelled as
    yaml_values        YAML within bounds -> values; an answer that is kept so
    yaml_keys          YAML -> the lines of keys, and one that is given twice
    dynamo_cases       test cases in YAML
    dumps              strings of notebooks, tables, statements and dumps -> the outputs in them
    python_functions   what Python's own functions do to plain values
    python_values      expressions of Python -> values; nothing is run
    python_statements  statements of Python -> names and their values
    python_makers      functions of a file of Python -> which of them make records
    python_modules     a file of Python -> the records that it makes
    python_literals    constants, parameters and keywords of a file of Python that are literals
    own_tests          the stand-alone test that a case was exported as -> that case
    vllm_replays       tests of vLLM's -> the chunkings under which they feed a sample
    vllm_parsers       a sample of vLLM's tests -> the parser that it is for
    vllm_suites        samples of vLLM's tests -> cases
    peeling            which layers come off by themselves, and which are offered
    report_parts       the parts of a bug report, each named by what it is
    recognise          every reader in order -> the answer, with the other readings
    alignment          texts of chunks, tokens -> which tokens came with each
    case_data          a recording -> the data of a case, without a tokenizer
    column_rows        rows of a suite, by columns -> cases
    suites             any of these -> cases by name

Everything is taken. Chunks that a server has parsed are kept as they came; raw text is rebuilt where ids, bytes or
unparsed content allow it; damage is named and what is whole is used. What is missing is asked for, with the command
that records it. Every step is linear in the input and none raises, whatever the bytes.
"""

from __future__ import annotations

from parsers.intake.evidence import Intake, Kind
from parsers.intake.recognise import recognise

__all__ = ["Intake", "Kind", "recognise"]
