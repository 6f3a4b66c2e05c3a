// openai, @anthropic-ai/sdk, @google/genai and the AI SDK in Node: what console.log, util.inspect and JSON show of them.
import { Console } from "node:console";
import { Writable } from "node:stream";
import { inspect } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { GoogleGenAI } from "@google/genai";
import { generateText, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const address = process.argv[2];
const STORIES = ["good", "leak", "brace", "dup", "idx", "think"];
const messages = [{ role: "user", content: "hi" }];
const whole = { depth: null };
const found = {};

/** Keeps what `print` prints as the shape of this name. */
function shape(story, name, print, colorMode = false) {
  let text = "";
  const out = new Writable({
    write(piece, _, done) {
      text += piece;
      done();
    },
  });
  print(new Console({ stdout: out, stderr: out, colorMode }));
  if (text.trim()) found[story][name] = text;
}

/** All values of an asynchronous sequence. */
async function listed(sequence) {
  const values = [];
  for await (const value of sequence) values.push(value);
  return values;
}

async function openai(story, model) {
  const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: "x" });
  const chunks = await listed(await client.chat.completions.create({ model, messages, stream: true }));
  const answer = await client.chat.completions.create({ model, messages });
  const deltas = chunks.map((chunk) => chunk.choices[0].delta);
  const each = (name, values, print, colour) =>
    shape(story, name, (to) => values.forEach((value) => print(to, value)), colour);
  each("js_chunk_log", chunks, (to, one) => to.log(one));
  each("js_chunk_log_colour", chunks, (to, one) => to.log(one), true);
  each("js_chunk_label", chunks, (to, one) => to.log("chunk:", one));
  each("js_chunk_inspect", chunks, (to, one) => to.log(inspect(one, whole)));
  each("js_chunk_dir", chunks, (to, one) => to.dir(one, whole));
  each("js_chunk_json", chunks, (to, one) => to.log(JSON.stringify(one)));
  each("js_choice_log", chunks, (to, one) => to.log(one.choices[0]));
  each("js_choices_log", chunks, (to, one) => to.log(one.choices));
  each("js_delta_log", deltas, (to, one) => to.log(one));
  each("js_delta_json", deltas, (to, one) => to.log(JSON.stringify(one)));
  each("js_delta_calls_log", deltas.map((one) => one.tool_calls).filter(Boolean), (to, one) => to.log(one));
  const message = answer.choices[0].message;
  shape(story, "js_answer_log", (to) => to.log(answer));
  shape(story, "js_answer_inspect", (to) => to.log(inspect(answer, whole)));
  shape(story, "js_answer_inspect_colour", (to) => to.log(inspect(answer, { ...whole, colors: true })));
  shape(story, "js_answer_dir", (to) => to.dir(answer, whole));
  shape(story, "js_message_log", (to) => to.log(message));
  shape(story, "js_message_json", (to) => to.log(JSON.stringify(message, null, 2)));
  shape(story, "js_calls_log", (to) => message.tool_calls && to.log(message.tool_calls));
  shape(story, "js_calls_json", (to) => message.tool_calls && to.log(JSON.stringify(message.tool_calls, null, 2)));
  const events = await listed(await client.responses.create({ model, input: "hi", stream: true }));
  const response = await client.responses.create({ model, input: "hi" });
  each("js_resp_events", events, (to, one) => to.log(one));
  shape(story, "js_resp_output", (to) => to.log(response.output));
  shape(story, "js_resp_answer", (to) => to.dir(response, whole));
}

async function anthropic(story, model) {
  const client = new Anthropic({ baseURL: address, apiKey: "x" });
  const request = { model, max_tokens: 10, messages };
  const events = await listed(await client.messages.create({ ...request, stream: true }));
  const answer = await client.messages.create(request);
  shape(story, "js_ant_events", (to) => events.forEach((one) => to.log(one)));
  shape(story, "js_ant_answer", (to) => to.log(answer));
  shape(story, "js_ant_content", (to) => to.log(answer.content));
  shape(story, "js_ant_json", (to) => to.log(JSON.stringify(answer.content, null, 2)));
}

async function gemini(story, model) {
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: address } });
  const answer = await client.models.generateContent({ model, contents: "hi" });
  const chunks = await listed(await client.models.generateContentStream({ model, contents: "hi" }));
  shape(story, "js_gem_answer", (to) => to.dir(answer, whole));
  shape(story, "js_gem_json", (to) => to.log(JSON.stringify(answer, null, 2)));
  shape(story, "js_gem_chunks", (to) => chunks.forEach((one) => to.dir(one, whole)));
}

async function vercel(story, model) {
  const provider = createOpenAICompatible({ name: "x", baseURL: `${address}/v1`, apiKey: "x" });
  const tools = {
    get_weather: tool({ description: "w", inputSchema: z.object({ city: z.string(), unit: z.string() }) }),
    get_time: tool({ description: "t", inputSchema: z.object({ zone: z.string() }) }),
  };
  const request = { model: provider(model), messages, tools };
  const parts = await listed(streamText({ ...request, includeRawChunks: true, onError() {} }).fullStream);
  const said = parts.filter((part) => part.type !== "raw");
  const raw = parts.filter((part) => part.type === "raw");
  shape(story, "ai_full_log", (to) => said.forEach((one) => to.log(one)));
  shape(story, "ai_full_json", (to) => said.forEach((one) => to.log(JSON.stringify(one))));
  shape(story, "ai_raw_json", (to) => raw.forEach((one) => to.log(JSON.stringify(one.rawValue))));
  shape(story, "ai_raw_parts", (to) => raw.forEach((one) => to.log(JSON.stringify(one))));
  const ui = await streamText({ ...request, onError() {} }).toUIMessageStreamResponse().text();
  shape(story, "ai_ui_sse", (to) => to.log(ui));
  const made = await generateText(request);
  const calls = made.toolCalls;
  shape(story, "ai_gen_content", (to) => to.log(made.content));
  shape(story, "ai_gen_content_json", (to) => to.log(JSON.stringify(made.content, null, 2)));
  shape(story, "ai_gen_calls", (to) => calls.length && to.log(calls));
  shape(story, "ai_gen_calls_json", (to) => calls.length && to.log(JSON.stringify(calls, null, 2)));
  shape(story, "ai_gen_steps_json", (to) => to.log(JSON.stringify(made.steps, null, 2)));
  shape(story, "ai_gen_messages_json", (to) => to.log(JSON.stringify(made.response.messages, null, 2)));
}

for (const story of STORIES) {
  found[story] = {};
  for (const client of [openai, anthropic, gemini, vercel]) {
    try {
      await client(story, `x-${story}`);
    } catch (error) {
      found[story][`raised_${client.name}`] = `${error.name}: ${error.message}`;
    }
  }
}
process.stdout.write(JSON.stringify(found));
