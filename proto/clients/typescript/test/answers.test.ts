// What the client makes of answers that are no decision, from a service that a test plays; and of a Unix socket.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import * as grpc from "@grpc/grpc-js";

import { DEFINITIONS } from "../src/client.js";
import { TripnoteError } from "../src/index.js";
import { clientOf, GUARDED, Server, SOCKET } from "./harness.js";

type Reply = Record<string, unknown> | { code: grpc.status; details: string };

/** Plays the service; tells its address and how often it was asked. */
async function play(admit: (metadata: grpc.Metadata) => Reply): Promise<{ address: string; asked: () => number }> {
  let asked = 0;
  const server = new grpc.Server();
  server.addService(DEFINITIONS["tripnote.v1.BreakerService"] as grpc.ServiceDefinition, {
    Admit: (call: grpc.ServerUnaryCall<unknown, unknown>, answer: grpc.sendUnaryData<unknown>) => {
      asked += 1;
      const reply = admit(call.metadata);
      if ("code" in reply) answer(reply as grpc.ServiceError);
      else answer(null, reply);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    const insecure = grpc.ServerCredentials.createInsecure();
    server.bindAsync("127.0.0.1:0", insecure, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  after(() => server.forceShutdown());
  return { address: `127.0.0.1:${port}`, asked: () => asked };
}

test("a sidecar is reached over its socket", async () => {
  const { address } = await Server.with(GUARDED, SOCKET);
  assert.ok((await clientOf(address).session("run").admit({ tool: "count" })).isGuarded);
});

test("a wrong token is an error and not an absence", async () => {
  const { address } = await play((metadata) => {
    const isRight = metadata.get("authorization")[0] === "Bearer secret";
    return isRight
      ? { permit: { token: Buffer.from("1") } }
      : { code: grpc.status.UNAUTHENTICATED, details: "a token is due" };
  });
  assert.ok((await clientOf(address, { token: "secret" }).session("run").admit({ tool: "count" })).isGuarded);
  await assert.rejects(clientOf(address, { token: "wrong" }).session("run").admit({ tool: "count" }), (error) => {
    return (
      error instanceof TripnoteError && error.code === "unauthenticated" && error.message.includes("a token is due")
    );
  });
});

for (const code of [grpc.status.RESOURCE_EXHAUSTED, grpc.status.INTERNAL, grpc.status.UNKNOWN]) {
  test(`a service that answers ${grpc.status[code]} counts as away and is not asked again`, async () => {
    const { address, asked } = await play(() => ({ code, details: "no" }));
    const call = await clientOf(address).session("run").admit({ tool: "charge", effect: "mutate" });
    assert.deepEqual([call.trip, call.mayGo, asked()], [undefined, false, 1]);
  });
}

test("a refusal is never asked again", async () => {
  const { address, asked } = await play(() => ({ trip: { text: "no", retryAfterMs: 1 } }));
  const call = await clientOf(address)
    .session("run")
    .call({ tool: "count" }, () => "yes");
  assert.deepEqual([call.text, asked()], ["no", 1]);
});
