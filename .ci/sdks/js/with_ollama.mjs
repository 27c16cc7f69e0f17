// Ollama's library for JavaScript. It keeps its error class to itself: a refusal is known by its name.

import assert from "node:assert/strict";
import { Ollama } from "ollama";
import { BASE_URL, IMAGE, PAIR, PROMPT, SEEING, SIGHT, UNKNOWN, holdsAnswers, readAsItComes, refused, run } from "./checks.mjs";

const client = new Ollama({ host: BASE_URL });
const HI = { model: PAIR, messages: [{ role: "user", content: PROMPT }] };
const TOOLS = { tools: [{ type: "function", function: { name: "look", description: "", parameters: { type: "object", properties: {} } } }] };

await run("ollama", {
  async chat() {
    const reply = await client.chat(HI);
    holdsAnswers(reply.message.content);
    assert.equal(reply.done_reason, "stop");
    assert.equal(reply.bench.answered, 2);
  },

  async stream() {
    const seen = [];
    await readAsItComes(await client.chat({ ...HI, stream: true }), (chunk) => seen.push(chunk) && chunk.message.content);
    assert.equal(seen.at(-1).bench.answered, 2);
  },

  async generate() {
    holdsAnswers((await client.generate({ model: PAIR, prompt: PROMPT, system: "Be brief." })).response);
    await readAsItComes(await client.generate({ model: PAIR, prompt: PROMPT, stream: true }), (chunk) => chunk.response);
  },

  async latest() {
    holdsAnswers((await client.chat({ ...HI, model: `${PAIR}:latest` })).message.content);
  },

  async image() {
    const messages = [{ role: "user", content: PROMPT, images: [IMAGE] }];
    assert.ok((await client.chat({ model: SEEING, messages })).message.content.includes(SIGHT));
  },

  async refusal() {
    await refused(() => client.chat({ ...HI, ...TOOLS }), Error, 400, "cannot run tools");
    await refused(() => client.chat({ ...HI, ...TOOLS, stream: true }), Error, 400, "cannot run tools");
  },

  async unknown_model() {
    await refused(() => client.chat({ ...HI, model: UNKNOWN }), Error, 404, UNKNOWN);
    await refused(() => client.show({ model: UNKNOWN }), Error, 404, UNKNOWN);
  },

  async listing() {
    const listed = (await client.list()).models.map((model) => model.model);
    for (const id of [PAIR, `${PAIR}:merged`]) assert.ok(listed.includes(id), listed.join());
    assert.ok((await client.show({ model: PAIR })).model_info);
  },
});
