// What the client does with the service's answers.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, resultOf, seen, TripnoteError, type Result } from "../src/index.js";
import { clientOf, freeAddress, GUARDED, scenario, sees, Server } from "./harness.js";

for (const failsBy of ["answer", "tool error", "error"]) {
  test(`the model sees exactly the texts of the script, failing by ${failsBy}`, async () => {
    const server = await Server.ways();
    const session = clientOf(server.address).session("ways");
    const lines = scenario();
    for (const line of lines) {
      const ask = { tool: line.tool, arguments: line.arguments, callId: line.call_id };
      const call = await session.call(ask, () => {
        if (line.failed && failsBy === "error") throw new Error(line.payload);
        return seen({ body: line.payload ?? "", isToolError: line.failed === true && failsBy === "tool error" });
      });
      assert.equal(call.text, sees(line), line.call_id);
      assert.equal(call.mayGo, line.admit === "go", line.call_id);
    }
    assert.equal(lines.length, 9);
  });
}

test("a trip is a value whose text is the contract", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("");
  for (let n = 0; n < 2; n += 1) await (await session.admit({ target: "GET /orders" })).report({ httpStatus: 503 });
  const call = await session.admit({ target: "GET /orders" });
  assert.equal(call.mayGo, false);
  const {
    action,
    breaker,
    target,
    signal,
    fallback,
    urgency,
    variant,
    retryAfterMs = 0,
    text,
  } = call.trip ?? assert.fail();
  assert.deepEqual(
    [action, breaker, target, signal, fallback, urgency, variant],
    ["await_recovery", "orders", "GET /orders", "error_rate", "none", "crash", "contract"],
  );
  assert.ok(retryAfterMs > 1_000);
  assert.equal(call.text, text);
  assert.match(text, /^\{"action":"await_recovery","breaker":"orders"/);
});

test("what says nothing of the target counts for nothing", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("");
  const cancelled = resultOf(new DOMException("", "AbortError"));
  for (const result of [{}, { judged: "ignored" } as const, cancelled, {}, {}]) {
    const call = await session.admit({ target: "GET /orders" });
    assert.ok(call.mayGo);
    await call.report(result);
  }
});

test("errors are read as what they are", async () => {
  const refused = await fetch(`http://${await freeAddress()}`).catch((error: unknown) => error);
  const table: [unknown, Result][] = [
    [refused, { error: "connect_refused" }],
    [AbortSignal.abort().reason, { error: "cancelled_by_caller" }],
    [new DOMException("", "TimeoutError"), { error: "timeout" }],
    [Object.assign(new Error(), { code: "ENOTFOUND" }), { error: "dns" }],
    [new Error("", { cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID" } }), { error: "tls" }],
    [new Error("no such card"), { body: "Error: no such card", isToolError: true }],
    ["gone", { body: "gone", isToolError: true }],
    [
      { response: { status: 429, headers: { "retry-after": "7" }, data: "slow down" } },
      { httpStatus: 429, headers: [["retry-after", "7"]], body: "slow down" },
    ],
  ];
  for (const [error, result] of table) assert.deepEqual(resultOf(error), result);
});

test("outcomes ride on the next admit", async () => {
  const client = clientOf((await Server.with(GUARDED)).address);
  const session = client.session("");
  for (let n = 0; n < 2; n += 1) {
    const call = await session.admit({ target: "GET /orders" });
    await call.later({ httpStatus: 503 });
    assert.ok(call.mayGo);
    assert.equal(client.waiting, 1);
  }
  assert.equal((await session.admit({ target: "GET /orders" })).mayGo, false, "both arrived with this very request");
});

test("outcomes that ride are told when the client closes", async () => {
  const server = await Server.with(GUARDED);
  const first = new Client({ address: server.address, deadlineMs: 5_000 });
  await (await first.session("").admit({ tool: "charge_card" })).later({ httpStatus: 503 });
  await first.close();
  assert.equal((await clientOf(server.address).session("").admit({ tool: "charge_card" })).mayGo, false);
});

test("a passing fault of a read is tried again and the model hears nothing", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  const busy = seen({ body: "busy", httpStatus: 503, headers: { "retry-after": "0" } });
  const call = await session.call<unknown>({ tool: "get_stock" }, (attempt) => (attempt === 1 ? busy : "12 boots"));
  assert.deepEqual([call.text, call.ask.attempt], ["12 boots", 2]);
});

test("who will not wait gives the model the line of the failure", async () => {
  const session = clientOf((await Server.with(GUARDED)).address, { retryWithinMs: 0 }).session("run");
  const call = await session.call({ tool: "get_stock" }, () => seen({ body: "busy", httpStatus: 503 }));
  assert.equal(call.text, "get_stock: unavailable, signal error_rate, class transport; nothing was measured");
});

test("a steer stands under a usable result", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  const count = session.guarded({ tool: "count" }, () => ({ boots: 12 }));
  const texts = [await count({ shelf: 7 }), await count({ shelf: 7 }), await count({ shelf: 7 })];
  assert.deepEqual(texts.slice(0, 2), ['{"boots":12}', '{"boots":12}']);
  assert.match(texts[2] ?? "", /^\{"boots":12\}\n\{"action":"change_route"/);
});

test("a value of a tool that looks like a result is the tool's value", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  const call = await session.call({ tool: "find_order" }, () => ({ error: null, body: "order 7" }));
  assert.equal(call.text, '{"error":null,"body":"order 7"}');
});

test("a session has its policy and ends", async () => {
  const client = clientOf((await Server.with(GUARDED)).address);
  const session = client.session("run", { allow: ["get_*"], tools: [{ name: "get_stock", effect: "read" }] });
  assert.equal((await session.admit({ tool: "drop_table" })).trip?.signal, "scope_creep");
  await session.close("answered", true);
  assert.ok((await client.session("run").admit({ tool: "drop_table" })).mayGo, "its policy ended with it");
  await client.session("never heard of").close();
});

test("a malformed request is an error of the program", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  await assert.rejects(session.admit({}), (error) => {
    return error instanceof TripnoteError && error.code === "invalid_argument" && error.message.includes("tool_name");
  });
  assert.throws(() => new Client({ whenDown: "open" as never }), /go_on, refuse or by_effect/);
});

test("a tool that returns nothing went well and is no empty answer", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  for (let n = 0; n < 8; n += 1) {
    const call = await session.call({ tool: "save_note", arguments: { n } }, () => undefined);
    assert.deepEqual([call.told?.disposition, call.text], ["deliver", ""]);
  }
});

test("what only the client cut is whole for the model", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  const whole = "a row of text\n".repeat(30_000);
  assert.equal((await session.call({ tool: "list_rows" }, () => whole)).text, whole);
  const theirs = await session.call({ tool: "list_rows" }, () => seen({ body: "[1,2", truncated: true }));
  assert.equal(theirs.text, "[1,2\npartial: cite what is in it, never a total or a rate");
});

test("names and payloads are kept within the bounds", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("ä".repeat(200));
  const ask = {
    tool: "ä".repeat(300),
    callId: "ä".repeat(200),
    waveId: "w".repeat(300),
    arguments: { q: "x".repeat(2 << 20) },
  };
  const headers: [string, string][] = Array.from({ length: 100 }, (_, n) => [`x-${n}`, "v"]);
  const call = await session.admit(ask);
  const told = await call.report({ body: "y".repeat(1 << 20), headers: [...headers, ["x-long", "v".repeat(9_000)]] });
  assert.deepEqual([told.acknowledgement, told.observation], ["counted", "truncated"]);
});

test("a compacted context is forgiven one repeat", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await session.call({ tool: "search", arguments: { q: "boots" } }, () => "[]")).text, "[]");
    await session.compacted();
  }
});

test("an answer without evidence is sent back once", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  await session.call({ tool: "search" }, () => "[]");
  const answer = "The root cause is the connection pool.";
  assert.match(await session.review(answer), /^ANSWER REVIEW: sent back \(no_usable_evidence\)\./);
  assert.equal(await session.review(answer), "");
});
