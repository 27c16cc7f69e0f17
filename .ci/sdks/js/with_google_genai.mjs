// Google's Gen AI SDK for JavaScript: it speaks v1beta.

import assert from "node:assert/strict";
import { ApiError, GoogleGenAI } from "@google/genai";
import { BASE_URL, IMAGE, PAIR, PROMPT, SEEING, SIGHT, UNKNOWN, all, holdsAnswers, readAsItComes, refused, run } from "./checks.mjs";

const client = new GoogleGenAI({ apiKey: "local", httpOptions: { baseUrl: BASE_URL, timeout: 30_000 } });
const HI = { model: PAIR, contents: PROMPT };
const TOOLS = { config: { tools: [{ functionDeclarations: [{ name: "look" }] }] } };

await run("@google/genai", {
  async chat() {
    const reply = await client.models.generateContent({ ...HI, config: { systemInstruction: "Be brief." } });
    holdsAnswers(reply.text);
    assert.equal(reply.candidates[0].finishReason, "STOP");
    assert.equal(JSON.parse(reply.sdkHttpResponse.headers["x-bench-seats"]).length, 2);
  },

  async stream() {
    await readAsItComes(await client.models.generateContentStream(HI), (chunk) => chunk.text);
  },

  async conversation() {
    const talk = client.chats.create({ model: PAIR });
    holdsAnswers((await talk.sendMessage({ message: PROMPT })).text);
    holdsAnswers((await talk.sendMessage({ message: PROMPT })).text);
  },

  async image() {
    const contents = [{ inlineData: { mimeType: "image/png", data: IMAGE } }, { text: PROMPT }];
    assert.ok((await client.models.generateContent({ model: SEEING, contents })).text.includes(SIGHT));
  },

  async refusal() {
    await refused(() => client.models.generateContent({ ...HI, ...TOOLS }), ApiError, 400, "cannot run tools");
    await refused(() => client.models.generateContentStream({ ...HI, ...TOOLS }), ApiError, 400, "cannot run tools");
  },

  async unknown_model() {
    await refused(() => client.models.generateContent({ ...HI, model: UNKNOWN }), ApiError, 404, PAIR);
  },

  async listing() {
    const listed = (await all(client.models.list())).map((model) => model.name);
    for (const id of [PAIR, `${PAIR}:merged`]) assert.ok(listed.includes(`models/${id}`), listed.join());
    assert.equal((await client.models.get({ model: PAIR })).name, `models/${PAIR}`);
  },

  async count() {
    assert.ok((await client.models.countTokens(HI)).totalTokens > 0);
  },
});
