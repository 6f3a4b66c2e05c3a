// The parsers of the npm package @ai-sdk-tool/parser, as a worker of docs/engine-protocol.md.
// Enter it with: toolcall-inspector engines add aisdk --command 'node ai_sdk_worker.mjs' --folder FOLDER_WITH_node_modules
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import process from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const file = createRequire(`${process.cwd()}/`).resolve("@ai-sdk-tool/parser");
const library = await import(pathToFileURL(file).href);
const { version } = JSON.parse(readFileSync(file.replace(/dist.*/, "package.json"), "utf8"));
const parsers = {
  hermes: () => library.hermesProtocol(),
  morph_xml: () => library.morphXmlProtocol(),
  yaml_xml: () => library.yamlXmlProtocol(),
  qwen3_coder: () => library.qwen3CoderProtocol(),
};
console.log = console.error; // nothing but the protocol goes to standard output
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

function hello() {
  const names = Object.keys(parsers).map((name) => ({ name, kind: "tool" }));
  const server = { holds_text: "unknown", many_tokens: "sent", empty_deltas: "unknown" };
  return {
    protocol: 1,
    name: "@ai-sdk-tool/parser",
    version,
    parsers: names,
    wants: "text",
    whole: true,
    contract: "openai",
    server,
  };
}

// A client has the streamed input of a call; what its last part says is only added where it goes on from there.
function delta(parts, calls) {
  const said = { content: "", tool_calls: [] };
  const share = (id, name, text) => {
    if (!calls.has(id)) calls.set(id, { index: calls.size, streamed: "" });
    const call = calls.get(id);
    call.streamed += text;
    said.tool_calls.push({ index: call.index, id: name && id, function: { name, arguments: text } });
  };
  for (const part of parts) {
    if (part.type === "text-delta") said.content += part.delta;
    if (part.type === "tool-input-start") share(part.id, part.toolName, "");
    if (part.type === "tool-input-delta") share(part.id, null, part.delta);
    if (part.type !== "tool-call") continue;
    const known = calls.get(part.toolCallId)?.streamed;
    if (known === undefined) share(part.toolCallId, part.toolName, part.input);
    else if (part.input.startsWith(known)) share(part.toolCallId, null, part.input.slice(known.length));
  }
  return said.content || said.tool_calls.length ? said : null;
}

async function streamed(protocol, tools, deltas, report) {
  const stream = protocol.createStreamParser({ tools });
  const writer = stream.writable.getWriter();
  const [calls, parts, sent] = [new Map(), [], []];
  let broken = null;
  const read = (async () => {
    for await (const part of stream.readable) parts.push(part);
  })().catch((error) => (broken = error));
  const end = { type: "finish", finishReason: { unified: "stop" }, usage: {} };
  const inputs = [...deltas.map(([text]) => ({ type: "text-delta", id: "1", delta: text })), end];
  for (const [at, input] of inputs.entries()) {
    if (report) say({ progress: { step: at + 1, sent: sent.at(-1) ?? null } });
    await writer.write(input).catch((error) => (broken = error));
    if (input === end && !broken) await writer.close().then(() => read);
    await turn();
    if (broken) return { sent, raised: { step: at + 1, kind: broken.name, message: broken.message } };
    sent.push(delta(parts.splice(0), calls));
  }
  return { sent };
}

function whole(protocol, tools, deltas) {
  const found = protocol.parseGeneratedText({ text: deltas.map(([text]) => text).join(""), tools });
  const parts = found.map((part) => (part.type === "text" ? { type: "text-delta", delta: part.text } : part));
  return { sent: [delta(parts, new Map())] };
}

async function run(asked) {
  if (!parsers[asked.parser]) throw new Error(`there is no parser ${asked.parser}`);
  const tools = (asked.request.tools ?? []).map((tool) => ({
    type: "function",
    name: tool.function.name,
    inputSchema: tool.function.parameters ?? { type: "object" },
  }));
  const replays = [];
  for (const deltas of asked.replays) {
    const protocol = parsers[asked.parser]();
    const make = asked.path === "whole" ? whole : streamed;
    replays.push(await make(protocol, tools, deltas, asked.report === "steps"));
  }
  return { replays };
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  try {
    say({ answer: asked.run ? await run(asked.run) : hello() });
  } catch (error) {
    say({ failed: `${error.name}: ${error.message}` });
  }
}
