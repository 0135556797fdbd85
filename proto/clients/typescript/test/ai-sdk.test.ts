// The wrapper inside the real AI SDK, with its mock model: what the model sees is the contract.
import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, stepCountIs, tool, type ToolSet } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

import { guardTools } from "../src/ai-sdk.js";
import type { Session } from "../src/index.js";
import { clientOf, freeAddress, GUARDED, scenario, sees, Server } from "./harness.js";

type Step = { tool: string; input: unknown }[];
type Output = { type: string; value: unknown };

/** Says what is written, step by step. */
function script(steps: Step[]): MockLanguageModelV3 {
  let at = 0;
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const step = steps[at++];
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      };
      const content = step
        ? step.map(({ tool: toolName, input }, n) => {
            return { type: "tool-call" as const, toolCallId: `call_${n}`, toolName, input: JSON.stringify(input) };
          })
        : [{ type: "text" as const, text: "done" }];
      const unified = step ? ("tool-calls" as const) : ("stop" as const);
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
}

/** The tool results of the model's last prompt. */
function outputs(model: MockLanguageModelV3): Output[] {
  const messages = model.doGenerateCalls.at(-1)?.prompt ?? [];
  return messages.flatMap((message) => {
    return message.role === "tool"
      ? message.content.map((part) => ("output" in part ? (part.output as Output) : assert.fail()))
      : [];
  });
}

function offered(model: MockLanguageModelV3): (string[] | undefined)[] {
  return model.doGenerateCalls.map((call) => call.tools?.map((each) => each.name));
}

function toolOf(execute: (input: unknown) => unknown) {
  return tool({ inputSchema: z.looseObject({}), execute: async (input) => execute(input) });
}

async function run(session: Session, steps: Step[], tools: ToolSet, options: Parameters<typeof guardTools>[2] = {}) {
  const model = script(steps);
  const guarded = guardTools(session, tools, options);
  await generateText({ model, ...guarded, stopWhen: stepCountIs(30), prompt: "do it" });
  return model;
}

for (const failsBy of ["answer", "error"]) {
  test(`the model sees exactly the texts of the script, failing by ${failsBy}`, async () => {
    const server = await Server.ways();
    const lines = scenario();
    const answers = lines.filter((line) => line.payload !== undefined);
    const execute = () => {
      const line = answers.shift();
      if (line?.failed && failsBy === "error") throw new Error(line.payload);
      return line?.payload;
    };
    const tools = Object.fromEntries(lines.map((line) => [line.tool, toolOf(execute)]));
    const model = script(lines.map((line) => [{ tool: line.tool, input: line.arguments }]));
    const guarded = guardTools(clientOf(server.address).session("ways"), tools);
    await generateText({ model, tools: guarded.tools, stopWhen: stepCountIs(30), prompt: "do it" });
    const seen = outputs(model);
    assert.deepEqual(
      seen.map((output) => output.value),
      lines.map(sees),
    );
    assert.deepEqual(
      seen.map((output) => output.type),
      lines.map((line) => (sees(line) === line.payload ? "text" : "error-text")),
    );
    assert.equal(answers.length, 0);
  });
}

const down = () => Promise.reject(Object.assign(new Error("down"), { code: "ECONNREFUSED" }));

test("a shut tool leaves the model's list", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  const tools = { charge_card: toolOf(down), charge_backup: toolOf(() => "charged") };
  const model = await run(
    session,
    [[{ tool: "charge_card", input: {} }], [{ tool: "charge_backup", input: {} }]],
    tools,
  );
  assert.deepEqual(offered(model), [["charge_card", "charge_backup"], ["charge_backup"], ["charge_backup"]]);
  const [refused, charged] = outputs(model);
  assert.match(String(refused?.value), /^\{"action":"switch_to_fallback","breaker":"payments"/);
  assert.deepEqual(charged, { type: "text", value: "charged" });
});

test("a value keeps its shape, and the words under it stand beside it", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  const step: Step = [{ tool: "count", input: { shelf: 7 } }];
  const model = await run(session, [step, step, step], { count: toolOf(() => ({ boots: 12 })) });
  const [first, second, third] = outputs(model);
  assert.deepEqual([first, second], Array(2).fill({ type: "json", value: { boots: 12 } }));
  const { result, note } = third?.value as { result: unknown; note: string };
  assert.deepEqual(result, { boots: 12 });
  assert.match(note, /^\{"action":"change_route"/);
});

test("a passing fault of a read is tried again and the model sees the result", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  let calls = 0;
  const flaky = () => (++calls === 1 ? down() : "12 boots");
  const model = await run(session, [[{ tool: "get_stock", input: {} }]], { get_stock: toolOf(flaky) });
  assert.deepEqual(outputs(model), [{ type: "text", value: "12 boots" }]);
});

test("twins of one answer are one wave", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  let refused = () => {};
  const bothAsked = new Promise<void>((resolve) => (refused = resolve));
  const admit = session.admit.bind(session);
  session.admit = async (ask) => {
    const call = await admit(ask);
    if (call.trip) refused();
    return call;
  };
  const count = async () => {
    await bothAsked;
    return "12 boots";
  };
  const twin = { tool: "count", input: { q: "x" } };
  const model = await run(session, [[twin, twin]], { count: toolOf(count) });
  const texts = outputs(model).map((output) => String(output.value));
  assert.deepEqual(texts.filter((text) => text === "12 boots").length, 1);
  assert.ok(texts.some((text) => text.includes('"signal":"fan_out"')));
});

test("a tool that shows its work is judged by its last word", async () => {
  const session = clientOf((await Server.with(GUARDED)).address).session("run");
  const slow = tool({
    inputSchema: z.looseObject({}),
    execute: async function* () {
      yield "counting";
      yield "12 boots";
    },
  });
  const model = await run(session, [[{ tool: "count", input: {} }]], { count: slow });
  assert.deepEqual(outputs(model), [{ type: "text", value: "12 boots" }]);
});

for (const [effect, text] of [
  ["mutate", /^charge_card: not called/],
  ["read", /^charged$/],
] as const) {
  test(`with nobody there a call of effect ${effect} is treated as such`, async () => {
    const session = clientOf(await freeAddress(), { deadlineMs: 200 }).session("run");
    const tools = { charge_card: toolOf(() => "charged") };
    const model = await run(session, [[{ tool: "charge_card", input: {} }]], tools, {
      effects: { charge_card: effect },
    });
    assert.match(String(outputs(model)[0]?.value), text);
  });
}
