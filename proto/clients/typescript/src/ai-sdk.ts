// The Vercel AI SDK: tools that are asked about and told, and a list of tools without those that cannot be called now.
//
//   const { tools, prepareStep } = guardTools(session, { charge_card }, { effects: { charge_card: "mutate" } });
//   await generateText({ model, tools, prepareStep, stopWhen: stepCountIs(20), prompt });
import { randomUUID } from "node:crypto";

import type { PrepareStepFunction, Tool, ToolExecutionOptions, ToolSet } from "ai";

import { readValue, type Call, type Session } from "./session.js";
import type { Effect, Result } from "./values.js";

/** A tool that has no time of its own is offered again after so long: only an operator knows when. */
const HIDDEN_FOR_MS = 60_000;

/** What the model is told in place of a result: the SDK shows it an error's message, and nothing else. */
export class ToolRefusal extends Error {
  override readonly name = "ToolRefusal";
  constructor(readonly call: Call) {
    super(call.text, { cause: call.error });
  }
}

export interface GuardOptions {
  /** What the calls of a tool do, by its name. */
  effects?: Readonly<Record<string, Effect>>;
  /** What a call goes to, where one tool calls several things. */
  target?: (tool: string, input: unknown) => string | undefined;
}

export interface Guarded<TOOLS extends ToolSet> {
  tools: TOOLS;
  /** Leaves out the tools that cannot be called now. */
  prepareStep: PrepareStepFunction<TOOLS>;
}

type Execute = (input: unknown, options: ToolExecutionOptions) => unknown;

/**
 * The same tools, guarded, in one session. What is no result is thrown as `ToolRefusal`, so that the model sees the
 * text as an error and a tool's `toModelOutput` never meets it. Tools without `execute` are left as they are.
 */
export function guardTools<TOOLS extends ToolSet>(
  session: Session,
  tools: TOOLS,
  options: GuardOptions = {},
): Guarded<TOOLS> {
  const hidden = new Map<string, number>();
  const waveOf = waves();
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const execute = tool.execute as Execute | undefined;
    if (!execute) return [name, tool];
    const around = async (input: unknown, given: ToolExecutionOptions): Promise<unknown> => {
      const waveId = waveOf(given.messages);
      const target = options.target?.(name, input);
      const effect = options.effects?.[name];
      const ask = {
        tool: name,
        arguments: input,
        // Models may count their calls from 0 in each answer.
        callId: `${waveId}/${given.toolCallId}`,
        waveId,
        ...(target ? { target } : {}),
        ...(effect ? { effect } : {}),
        ...(given.abortSignal ? { signal: given.abortSignal } : {}),
      };
      const call = await session.call(ask, () => lastOf(execute.call(tool, input, given)), readOutput);
      hear(hidden, name, call);
      return delivered(call);
    };
    return [name, { ...tool, execute: around } as Tool];
  });
  const prepareStep: PrepareStepFunction<TOOLS> = () => {
    for (const [name, until] of hidden) if (until <= Date.now()) hidden.delete(name);
    if (hidden.size === 0) return {};
    return { activeTools: Object.keys(tools).filter((name) => !hidden.has(name)) as (keyof TOOLS)[] } as never;
  };
  return { tools: Object.fromEntries(guarded) as TOOLS, prepareStep };
}

/** What the SDK takes as the tool's output; what is for the model alone is thrown. */
function delivered(call: Call): unknown {
  if (call.isPlain) return call.value;
  const isResult = call.mayGo && call.error === undefined && call.told?.replaces !== true;
  if (!isResult) throw new ToolRefusal(call);
  // Words under a result: text takes them in, another value keeps its shape and stands beside them.
  if (typeof call.value === "string") return call.text;
  const words = [call.told?.text, ...call.notices].filter(Boolean);
  return { result: call.value, note: words.join("\n") };
}

function readOutput(value: unknown): Result {
  return readValue(value);
}

/** A tool may show its work as it goes; its last word is its result. */
async function lastOf(output: unknown): Promise<unknown> {
  const value = await output;
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const part of value as AsyncIterable<unknown>) last = part;
  return last;
}

function hear(hidden: Map<string, number>, tool: string, call: Call): void {
  const trip = call.trip ?? call.told?.trip;
  if (!trip) {
    if (call.isGuarded) hidden.delete(tool);
    return;
  }
  const until = Date.now() + (trip.retryAfterMs ?? HIDDEN_FOR_MS);
  for (const name of trip.withdraw) hidden.set(name, until);
}

/** The model's answer that a call is of: the SDK gives all calls of one the same messages. */
function waves(): (messages: object) => string {
  const known = new WeakMap<object, string>();
  return (messages) => {
    const wave = known.get(messages) ?? randomUUID();
    known.set(messages, wave);
    return wave;
  };
}
