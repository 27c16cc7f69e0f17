// What every script here shares: where the server is, what its models say, and how each check's end is told.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

export const { BASE_URL, IMAGE } = process.env;
export const PROMPT = "Say anything.";
export const [PAIR, SEEING, UNKNOWN] = ["bench/pair", "bench/seeing", "bench/nowhere"];
export const SIGHT = "I see.";
const ANSWERS = ["No stale read.", "The answer is 42."];
// One seat of the pair answers 0.3 s after the other: a stream that is held back would bring both at once.
const APART_MS = 100;

// Run the checks and print, a line of JSON each, which version was used and how each ended.
export async function run(name, checks) {
  const { version } = JSON.parse(await readFile(new URL(`node_modules/${name}/package.json`, import.meta.url)));
  console.log(JSON.stringify({ version: `${name} ${version}` }));
  for (const [check, body] of Object.entries(checks)) {
    try {
      await body();
      console.log(JSON.stringify({ check }));
    } catch (error) {
      console.log(JSON.stringify({ check, failed: error.stack ?? String(error) }));
    }
  }
}

export function holdsAnswers(content) {
  for (const answer of ANSWERS) assert.ok(content?.includes(answer), content);
}

// Join a stream's pieces, seeing that the answers arrived apart.
export async function readAsItComes(stream, textOf) {
  let text = "";
  const arrived = new Map();
  for await (const event of stream) {
    text += textOf(event) ?? "";
    for (const answer of ANSWERS) if (text.includes(answer) && !arrived.has(answer)) arrived.set(answer, performance.now());
  }
  holdsAnswers(text);
  const [first, second] = ANSWERS.map((answer) => arrived.get(answer));
  assert.ok(Math.abs(second - first) > APART_MS, `${first} ${second}`);
  return text;
}

// See that a call fails as the SDK says a refusal does, with the gateway's words.
export async function refused(call, errorClass, status, words) {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof errorClass, `${error.constructor.name}: ${error}`);
    assert.equal(error.status ?? error.status_code, status);
    assert.ok(error.message.includes(words), error.message);
    return true;
  });
}

// Read a stream to its end.
export async function all(stream) {
  const events = [];
  for await (const event of await stream) events.push(event);
  return events;
}
