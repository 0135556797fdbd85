// The example agent, as a reader runs it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { freeAddress, REPOSITORY, Server } from "./harness.js";

const AGENT = fileURLToPath(new URL("../examples/agent.js", import.meta.url));

async function run(address: string): Promise<string> {
  const env = { ...process.env, TRIPNOTE_CONNECT: address };
  return (await promisify(execFile)(process.execPath, [AGENT], { env })).stdout.trimEnd();
}

test("the model goes where the contract sends it", async () => {
  const server = await Server.with(readFileSync(join(REPOSITORY, "proto", "clients", "example.toml"), "utf8"));
  const out = await run(server.address);
  assert.match(out, /"action":"switch_to_fallback","breaker":"payments"/);
  assert.match(out, /charged 5, calls 8, requests_to_card 3$/);
});

test("without the service nothing that changes something is done", async () => {
  const out = await run(await freeAddress());
  assert.match(out, /charge_card: not called; the breaker service does not answer/);
  assert.match(out, /charged 0, calls 30, requests_to_card 0$/);
});
