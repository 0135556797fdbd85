// The service is away: killed, frozen, started anew.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Client, Effect, WhenDown } from "../src/index.js";
import { clientOf, freeAddress, Proxy, Server, until } from "./harness.js";

const TOOLS = `
[[breaker]]
code = "orders"
targets = ["orders"]
`;

async function isGuarded(client: Client): Promise<boolean> {
  return (await client.session("").admit({ target: "orders" })).isGuarded;
}

const CASES: [WhenDown, Effect | undefined, boolean][] = [
  ["by_effect", undefined, true],
  ["by_effect", "read", true],
  ["by_effect", "unknown", true],
  ["by_effect", "mutate", false],
  ["go_on", "mutate", true],
  ["refuse", "read", false],
];

for (const [whenDown, effect, goes] of CASES) {
  const what = `${whenDown} lets a call of effect ${effect ?? "unsaid"} ${goes ? "go" : "not go"}`;
  test(`where nobody answers, ${what}`, async () => {
    const session = clientOf(await freeAddress(), { whenDown, deadlineMs: 200 }).session("run");
    const call = await session.call({ tool: "charge", ...(effect ? { effect } : {}) }, () => "done");
    if (goes) assert.equal(call.text, "done");
    else assert.match(call.text, /^charge: not called; the breaker service does not answer and [^\n]+$/);
  });
}

test("it is said once, and once when it is back", async () => {
  const said: string[] = [];
  const server = await Server.with(TOOLS);
  const client = clientOf(server.address, { deadlineMs: 500, log: (line) => said.push(line) });
  await until(() => isGuarded(client));
  said.length = 0;
  await server.kill();
  for (let n = 0; n < 5; n += 1) assert.equal(await isGuarded(client), false);
  await server.start();
  await until(() => isGuarded(client));
  assert.equal(said.length, 2, said.join("\n"));
  assert.match(
    said[0] ?? "",
    /does not answer \(unavailable\): calls that change something are refused, others go on unguarded$/,
  );
  assert.equal(said[1], `tripnote at ${server.address} answers again: calls are guarded`);
});

test("a restart between two calls is not noticed", async () => {
  const said: string[] = [];
  const server = await Server.with(TOOLS);
  const session = clientOf(server.address, { log: (line) => said.push(line) }).session("run");
  for (let n = 0; n < 3; n += 1) {
    const call = await session.admit({ tool: "orders" });
    assert.ok(call.isGuarded);
    await call.report({ body: "fine" });
    await server.kill();
    await server.start();
  }
  assert.deepEqual(said, []);
});

test("a permit from before a restart is unknown, and a policy is told again", async () => {
  const server = await Server.with(TOOLS);
  const session = clientOf(server.address).session("run", { allow: ["orders"] });
  const call = await session.admit({ tool: "orders" });
  await server.kill();
  await server.start();
  assert.equal((await call.report({ body: "fine" })).acknowledgement, "unknown");
  assert.equal(call.text, "fine");
  assert.ok((await session.admit({ tool: "drop_table" })).trip);
});

test("a service that hangs costs one deadline and no more", async () => {
  const server = await Server.with(TOOLS);
  const client = clientOf(server.address, { deadlineMs: 1_000 });
  await until(() => isGuarded(client));
  const call = await client.session("run").admit({ tool: "orders" });
  server.freeze();
  const began = performance.now();
  assert.equal((await call.report({ body: "fine" })).disposition, "away");
  const took = performance.now() - began;
  assert.ok(took > 900 && took < 8_000, String(took));
  assert.equal(client.waiting, 1, "a report that did not arrive waits for the next admit");
  server.thaw();
  await until(() => isGuarded(client));
  assert.equal(client.waiting, 0, "it was told");
});

test("a connection that hangs is replaced", async () => {
  const proxy = await Proxy.to((await Server.with(TOOLS)).address);
  const client = clientOf(proxy.address, { deadlineMs: 500 });
  await until(() => isGuarded(client));
  proxy.hang();
  assert.equal(await isGuarded(client), false);
  await until(() => isGuarded(client));
});

test("a call that is given up is told as one and ends at once", async () => {
  const client = clientOf((await Server.with(TOOLS)).address);
  const controller = new AbortController();
  const running = client.session("run").call({ tool: "orders", signal: controller.signal }, () => {
    controller.abort();
    controller.signal.throwIfAborted();
  });
  await assert.rejects(running, { name: "AbortError" });
  assert.deepEqual(
    client.take().map((outcome) => (outcome["transport"] as Record<string, unknown>)["errorKind"]),
    ["ERROR_KIND_CANCELLED_BY_CALLER"],
  );
});

test("what waits is bounded", async () => {
  const server = await Server.with(TOOLS);
  const client = clientOf(server.address, { deadlineMs: 500 });
  const calls = [];
  for (let n = 0; n < 80; n += 1) calls.push(await client.session("").admit({ tool: "orders" }));
  await server.kill();
  for (const call of calls) await call.report({ body: "x".repeat(30_000) });
  assert.ok(client.waiting > 0 && client.waiting * 30_000 <= 1 << 20, String(client.waiting));
});
