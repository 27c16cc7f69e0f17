// The Anthropic SDK for JavaScript.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { BASE_URL, IMAGE, PAIR, PROMPT, SEEING, SIGHT, UNKNOWN, all, holdsAnswers, readAsItComes, refused, run } from "./checks.mjs";

const client = new Anthropic({ baseURL: BASE_URL, apiKey: "local", maxRetries: 0, timeout: 30_000 });
const HI = { model: PAIR, max_tokens: 1024, messages: [{ role: "user", content: PROMPT }] };
const TOOLS = { tools: [{ name: "look", input_schema: { type: "object", properties: {} } }] };

await run("@anthropic-ai/sdk", {
  async chat() {
    const reply = await client.messages.create({ ...HI, system: "Be brief." });
    holdsAnswers(reply.content[0].text);
    assert.equal(reply.stop_reason, "end_turn");
    assert.equal(reply.bench.answered, 2);
  },

  async stream() {
    const seen = [];
    const stream = await client.messages.create({ ...HI, stream: true });
    await readAsItComes(stream, (event) => seen.push(event) && event.type === "content_block_delta" && event.delta.text || "");
    assert.equal(seen.find((event) => event.type === "message_delta").bench.answered, 2);
    assert.equal(seen.at(-1).type, "message_stop");
  },

  async stream_helper() {
    const stream = client.messages.stream(HI);
    const text = await readAsItComes(stream, (event) => event.type === "content_block_delta" && event.delta.text || "");
    const final = await stream.finalMessage();
    assert.equal(final.content[0].text, text);
    assert.ok(final.usage.output_tokens > 1);
  },

  async image() {
    const source = { type: "base64", media_type: "image/png", data: IMAGE };
    const content = [{ type: "image", source }, { type: "text", text: PROMPT }];
    const reply = await client.messages.create({ model: SEEING, max_tokens: 1024, messages: [{ role: "user", content }] });
    assert.ok(reply.content[0].text.includes(SIGHT));
  },

  async refusal() {
    const ask = (more) => client.messages.create({ ...HI, ...TOOLS, ...more });
    await refused(() => ask(), Anthropic.BadRequestError, 400, "cannot run tools");
    await refused(() => ask({ stream: true }), Anthropic.BadRequestError, 400, "cannot run tools");
  },

  async unknown_model() {
    await refused(() => client.messages.create({ ...HI, model: UNKNOWN }), Anthropic.NotFoundError, 404, PAIR);
  },

  async listing() {
    const listed = await all(client.models.list());
    const ids = listed.map((model) => model.id);
    for (const id of [PAIR, `${PAIR}:merged`]) assert.ok(ids.includes(id), ids.join());
    assert.ok((await client.models.retrieve(PAIR)).display_name);
  },

  async count() {
    const { model, messages } = HI;
    assert.ok((await client.messages.countTokens({ model, messages })).input_tokens > 0);
  },
});
