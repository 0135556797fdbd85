// Between values and messages: what a call and its outcome look like on the wire, kept within the bounds that the
// protos name, and what an answer means. Knows no channel and no clock.
import { createHash } from "node:crypto";

import type { Ask, Result, Told, Trip } from "./values.js";

const NAME_MAX = 512;
const ID_MAX = 256;
const HEADERS_MAX = 64;
const HEADER_NAME_MAX = 128;
const HEADER_VALUE_MAX = 1024;
/** Longer arguments go as their digest: the service takes 4 MiB as one message, with everything else in it. */
const ARGUMENTS_MAX = 1 << 20;
const SECRET_HEADERS = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie"]);

/** A message as the proto loader reads and writes it. */
export type Message = Readonly<Record<string, unknown>>;

/** An `Ask` of a session, complete. */
export interface FullAsk extends Ask {
  sessionId: string;
  caller: string;
  attempt: number;
}

export function nameOf(ask: Ask): string {
  return ask.tool || ask.target || "";
}

/** A name within its bound: a longer one keeps its beginning and ends in its hash, so that it stays itself. */
export function fit(text: string, max = ID_MAX): string {
  const raw = Buffer.from(text, "utf8");
  if (raw.length <= max) return raw.toString("utf8");
  const tail = `#${createHash("sha256").update(raw).digest("hex").slice(0, 32)}`;
  let cut = max - tail.length;
  while (((raw[cut] ?? 0) & 0xc0) === 0x80) cut -= 1; // Not within a character.
  return raw.subarray(0, cut).toString("utf8") + tail;
}

/** Arguments as JSON. Empty where there are none, or none that can be told: the call is guarded all the same. */
export function argumentBytes(value: unknown): Buffer {
  if (value === undefined || value === null) return Buffer.alloc(0);
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (typeof value === "string") return Buffer.from(value);
  try {
    const text = JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? each.toString() : each));
    return Buffer.from(text ?? "");
  } catch {
    return Buffer.alloc(0);
  }
}

export function admitRequest(ask: FullAsk, reports: readonly Message[]): Message {
  const raw = argumentBytes(ask.arguments);
  const told =
    raw.length > ARGUMENTS_MAX
      ? { argumentsDigest: createHash("sha256").update(raw).digest(), argumentsBytes: raw.length }
      : { arguments: raw };
  return {
    target: fit(ask.target ?? "", NAME_MAX),
    toolName: fit(ask.tool ?? "", NAME_MAX),
    sessionId: ask.sessionId,
    callId: fit(ask.callId ?? ""),
    attempt: ask.attempt,
    ...(ask.turn === undefined ? {} : { turn: ask.turn }),
    waveId: fit(ask.waveId ?? ""),
    taskId: fit(ask.taskId ?? ""),
    purpose: fit(ask.purpose ?? ""),
    lane: fit(ask.lane ?? ""),
    credential: fit(ask.credential ?? ""),
    caller: ask.caller,
    idempotencyKey: fit(ask.idempotencyKey ?? ""),
    effect: effectWord(ask.effect),
    userApproved: ask.userApproved ?? false,
    reports,
    ...told,
  };
}

export function effectWord(effect: string | undefined): string {
  return `EFFECT_${(effect ?? "unspecified").toUpperCase()}`;
}

export function outcomeMessage(
  ask: FullAsk,
  permit: Uint8Array,
  result: Result,
  payloadLimit: number,
  latencyMs: number,
): Message {
  const common = {
    permit,
    toolName: fit(ask.tool ?? "", NAME_MAX),
    attempt: ask.attempt,
    effect: effectWord(ask.effect),
    idempotent: Boolean(ask.idempotencyKey),
    latencyMs: Math.max(0, Math.round(latencyMs)),
  };
  const transport = facts(result);
  const payload = payloadMessage(result, payloadLimit);
  // Where nothing was seen and nobody judged, nothing counts.
  const judged = result.judged ?? (transport || payload ? undefined : "ignored");
  if (judged) {
    const classification = {
      result: `KIND_${judged.toUpperCase()}`,
      kind: `CIRCUIT_KIND_${(result.circuit ?? "unspecified").toUpperCase().replace(".", "_")}`,
      ...(result.retryAfterMs === undefined ? {} : { retryAfterMs: Math.round(result.retryAfterMs) }),
    };
    return { ...common, classification };
  }
  const raw = argumentBytes(ask.arguments);
  return {
    ...common,
    ...(raw.length <= payloadLimit ? { arguments: raw } : {}),
    ...(transport ? { transport } : {}),
    ...(payload ? { payload } : {}),
  };
}

function facts(result: Result): Message | undefined {
  const seen = {
    ...(result.httpStatus === undefined ? {} : { httpStatus: result.httpStatus }),
    ...(result.grpcCode === undefined ? {} : { grpcCode: result.grpcCode }),
    ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    ...(result.error === undefined ? {} : { errorKind: `ERROR_KIND_${result.error.toUpperCase()}` }),
    ...(result.isToolError && result.body !== undefined ? { carrier: "CARRIER_MCP" } : {}),
  };
  const headers = headerMessages(result);
  if (Object.keys(seen).length === 0 && headers.length === 0) return undefined;
  return { ...seen, headers };
}

function headerMessages(result: Result): Message[] {
  const headers = result.headers ?? [];
  const entries: Iterable<readonly [string, string]> =
    Symbol.iterator in headers ? (headers as Iterable<readonly [string, string]>) : Object.entries(headers);
  const isHint = (name: string) => /^(retry|ratelimit|x-ratelimit|date)/i.test(name);
  return [...entries]
    .filter(([name, value]) => {
      const isFit = name !== "" && Buffer.byteLength(name) <= HEADER_NAME_MAX;
      return isFit && Buffer.byteLength(value) <= HEADER_VALUE_MAX && !SECRET_HEADERS.has(name.toLowerCase());
    })
    .sort(([a], [b]) => Number(isHint(b)) - Number(isHint(a))) // Of too many, those that the service reads first.
    .slice(0, HEADERS_MAX)
    .map(([name, value]) => ({ name, value }));
}

function payloadMessage(result: Result, limit: number): Message | undefined {
  if (result.body === undefined) return undefined;
  let body = Buffer.from(result.body as Uint8Array);
  let [contentType, isCut] = [result.contentType ?? "", result.truncated ?? false];
  if (result.isToolError) {
    // The one shape in which a tool says that its answer is a failure, whatever the words.
    isCut ||= body.length > limit / 2;
    const text = body.subarray(0, Math.floor(limit / 2)).toString("utf8");
    body = Buffer.from(JSON.stringify({ content: [{ type: "text", text }], isError: true }));
    contentType = "application/json";
  }
  isCut ||= body.length > limit;
  return { body: body.subarray(0, limit), contentType: fit(contentType), truncatedByCaller: isCut };
}

/** The word of an enum's value: its name without the prefix, in lower case; empty where there is none or it is new. */
function word(value: unknown, prefix: string): string {
  if (typeof value !== "string" || !value.startsWith(prefix)) return "";
  const said = value.slice(prefix.length).toLowerCase();
  return said === "unspecified" ? "" : said;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const message = (value: unknown): Message => (typeof value === "object" && value !== null ? (value as Message) : {});

export function tripOf(value: unknown): Trip | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const trip = value as Message;
  const retryAfterMs = trip["_retryAfterMs"] === undefined ? undefined : Number(trip["retryAfterMs"]);
  return {
    action: word(trip["action"], "ACTION_"),
    breaker: text(trip["breaker"]),
    target: text(trip["target"]),
    signal: word(trip["signal"], "SIGNAL_"),
    observed: text(trip["observed"]),
    threshold: text(trip["threshold"]),
    state: text(trip["state"]),
    doNot: text(trip["doNot"]),
    fallback: text(trip["fallback"]),
    text: text(trip["text"]),
    variant: text(trip["variantName"]),
    urgency: word(trip["urgency"], "URGENCY_"),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    fallbackTarget: text(trip["fallbackTarget"]),
    withdraw: Array.isArray(trip["withdraw"]) ? trip["withdraw"].map(text) : [],
  };
}

export const AWAY: Told = {
  disposition: "away",
  text: "",
  replaces: false,
  observation: "",
  signal: "",
  usable: false,
  acknowledgement: "",
};

/** What an acknowledgement asks the caller to do. `isOurCut`: the model has more than was sent. */
export function toldOf(ask: Ask, value: unknown, isOurCut: boolean): Told {
  const ack = message(value);
  const [handling, typing] = [message(ack["handling"]), message(ack["typing"])];
  const disposition = word(handling["disposition"], "DISPOSITION_") || "deliver";
  const trip = tripOf(ack["trip"]);
  const usable = typing["usable"] === true;
  let said = text(handling["text"]);
  let replaces = false;
  let retryAfterMs: number | undefined;
  switch (disposition) {
    case "trip":
    case "steer":
      said = trip ? trip.text : said;
      // A usable result stands above a steer; of one that is not, the contract says all there is to say.
      replaces = disposition === "trip" || !usable;
      break;
    case "deliver":
      if (isOurCut) said = ""; // The caution is about our cut, which the model does not see.
      break;
    case "return_error":
    case "deliver_failure":
      replaces = said !== "";
      break;
    case "retry_silently":
    case "move":
    case "narrow":
      if (disposition === "retry_silently") retryAfterMs = Number(handling["afterMs"] ?? 0);
      said ||= failureLine(nameOf(ask), typing);
      replaces = true;
  }
  return {
    disposition,
    text: said,
    replaces,
    ...(trip ? { trip } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    observation: word(typing["observation"], "OBSERVATION_"),
    signal: word(typing["signal"], "SIGNAL_"),
    usable,
    acknowledgement: word(ack["acknowledgement"], "ACKNOWLEDGEMENT_"),
  };
}

/** A failure in the words of the service's own line, where the caller was to try again and cannot. */
function failureLine(tool: string, typing: Message): string {
  const observation = word(typing["observation"], "OBSERVATION_") || "failed";
  const signal = word(typing["signal"], "SIGNAL_") || "none";
  const failureClass = word(typing["failureClass"], "FAILURE_CLASS_") || "none";
  const name = fit(tool, ID_MAX / 2) || "the tool";
  return `${name}: ${observation}, signal ${signal}, class ${failureClass}; nothing was measured`;
}
