// The OpenAI SDK for JavaScript: chat completions, Responses and legacy completions.

import assert from "node:assert/strict";
import OpenAI from "openai";
import { BASE_URL, IMAGE, PAIR, PROMPT, SEEING, SIGHT, UNKNOWN, all, holdsAnswers, readAsItComes, refused, run } from "./checks.mjs";

const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: "local", maxRetries: 0, timeout: 30_000 });
const HI = { model: PAIR, messages: [{ role: "user", content: PROMPT }] };
const LOOK = { name: "look", parameters: { type: "object", properties: {} } };
const TOOLS = { tools: [{ type: "function", function: LOOK }] };
const URL = `data:image/png;base64,${IMAGE}`;

await run("openai", {
  async chat() {
    const reply = await client.chat.completions.create(HI);
    holdsAnswers(reply.choices[0].message.content);
    assert.equal(reply.choices[0].finish_reason, "stop");
    assert.equal(reply.bench.answered, 2);
  },

  async stream() {
    const seen = [];
    const stream = await client.chat.completions.create({ ...HI, stream: true, stream_options: { include_usage: true } });
    await readAsItComes(stream, (chunk) => seen.push(chunk) && chunk.choices[0]?.delta.content);
    assert.deepEqual(seen.filter((chunk) => chunk.bench).map((chunk) => chunk.bench.answered), [2]);
    assert.ok(seen.at(-1).usage.total_tokens > 0);
  },

  async stream_helper() {
    const stream = client.chat.completions.stream(HI);
    const text = await readAsItComes(stream, (chunk) => chunk.choices[0]?.delta.content);
    assert.equal((await stream.finalChatCompletion()).choices[0].message.content, text);
  },

  async image() {
    const content = [{ type: "text", text: PROMPT }, { type: "image_url", image_url: { url: URL } }];
    const reply = await client.chat.completions.create({ model: SEEING, messages: [{ role: "user", content }] });
    assert.ok(reply.choices[0].message.content.includes(SIGHT));
    assert.deepEqual(reply.bench.skipped.map((seat) => seat.alias), ["fast"]);
  },

  async refusal() {
    const ask = (more) => client.chat.completions.create({ ...HI, ...TOOLS, ...more });
    await refused(() => ask(), OpenAI.BadRequestError, 400, "cannot run tools");
    await refused(() => ask({ stream: true }), OpenAI.BadRequestError, 400, "cannot run tools");
  },

  async unknown_model() {
    await refused(() => client.chat.completions.create({ ...HI, model: UNKNOWN }), OpenAI.NotFoundError, 404, PAIR);
    await refused(() => client.models.retrieve(UNKNOWN), OpenAI.NotFoundError, 404, PAIR);
  },

  async listing() {
    const listed = (await all(client.models.list())).map((model) => model.id);
    for (const id of [PAIR, `${PAIR}:merged`]) assert.ok(listed.includes(id), listed.join());
    assert.equal((await client.models.retrieve(PAIR)).id, PAIR);
  },

  async responses() {
    const reply = await client.responses.create({ model: PAIR, input: PROMPT, instructions: "Be brief." });
    holdsAnswers(reply.output_text);
    assert.equal(reply.bench.answered, 2);
  },

  async responses_stream() {
    const stream = client.responses.stream({ model: PAIR, input: PROMPT });
    const text = await readAsItComes(stream, (event) => event.type === "response.output_text.delta" && event.delta || "");
    assert.equal((await stream.finalResponse()).output_text, text);
  },

  async responses_image() {
    const content = [{ type: "input_text", text: PROMPT }, { type: "input_image", image_url: URL }];
    const reply = await client.responses.create({ model: SEEING, input: [{ role: "user", content }] });
    assert.ok(reply.output_text.includes(SIGHT));
  },

  async responses_refusal() {
    const tools = [{ type: "function", ...LOOK }];
    const ask = (body) => () => client.responses.create({ input: PROMPT, ...body });
    await refused(ask({ model: PAIR, tools }), OpenAI.BadRequestError, 400, "cannot run tools");
    await refused(ask({ model: UNKNOWN }), OpenAI.NotFoundError, 404, PAIR);
  },

  async completions() {
    holdsAnswers((await client.completions.create({ model: PAIR, prompt: PROMPT })).choices[0].text);
    const stream = await client.completions.create({ model: PAIR, prompt: PROMPT, stream: true });
    await readAsItComes(stream, (chunk) => chunk.choices[0].text);
  },
});
