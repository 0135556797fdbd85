// The connection: one channel, which errors mean that the service is away, saying so once, and what waits for it.
import { fileURLToPath } from "node:url";

import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

import { Session, type SessionPolicy } from "./session.js";
import { TripnoteError, type WhenDown } from "./values.js";
import { nameOf, type FullAsk, type Message } from "./wire.js";

/** A service that comes and goes is spoken of so often. */
const SAID_EVERY_MS = 60_000;

const STALLS_MAX = 3;
const REPLACE_EVERY_MS = 5_000;

const PENDING_MAX = 64;
const PENDING_BYTES_MAX = 1 << 20;
const PENDING_ITEM_MAX = 64 << 10;

const PROTOS = fileURLToPath(new URL("../proto", import.meta.url));
/** The services as the protos define them. */
export const DEFINITIONS = loadSync(["tripnote/v1/breaker.proto", "tripnote/v1/session.proto"], {
  includeDirs: [PROTOS],
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
});

const METHODS = {
  Admit: "BreakerService",
  Report: "BreakerService",
  OpenSession: "SessionService",
  CloseSession: "SessionService",
  AdvanceContextEpoch: "SessionService",
  ReviewAnswer: "SessionService",
} as const;

const CHANNEL_OPTIONS: grpc.ChannelOptions = {
  // A service that comes back is found within a second; gRPC's own habit is to look away for up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // A connection that is replaced is a new one. Keepalive would not do: it watches calls that last, and ours do not.
  "grpc.use_local_subchannel_pool": 1,
  // Retries are ours: within one deadline, and never of a refusal.
  "grpc.enable_retries": 0,
};

const AWAY = new Set<number>([
  grpc.status.UNAVAILABLE,
  grpc.status.DEADLINE_EXCEEDED,
  grpc.status.RESOURCE_EXHAUSTED,
  grpc.status.CANCELLED,
  grpc.status.ABORTED,
  grpc.status.INTERNAL,
  grpc.status.UNKNOWN,
  grpc.status.DATA_LOSS,
]);

export interface ClientOptions {
  /** `host:port` or `unix:/path`; absent: TRIPNOTE_CONNECT, else 127.0.0.1:7171. */
  address?: string;
  /** Who asks: an agent, a worker, a tenant. */
  caller?: string;
  /** What becomes of calls while the service is away; absent: `by_effect`. */
  whenDown?: WhenDown;
  /** The time for one answer, all tries together; absent: 250. */
  deadlineMs?: number;
  /** The longest silent wait; absent: 5,000. */
  retryWithinMs?: number;
  /** How much of a body is sent, in bytes; absent: 256 KiB. */
  payloadLimit?: number;
  /** A bearer token. */
  token?: string;
  credentials?: grpc.ChannelCredentials;
  /** Is told once that the service is away, and once that it is back. Absent: `console.warn`. */
  log?: (line: string) => void;
}

/** A connection to one service. `close` tells what is still untold. */
export class Client {
  readonly address: string;
  readonly caller: string;
  readonly whenDown: WhenDown;
  readonly deadlineMs: number;
  readonly retryWithinMs: number;
  readonly payloadLimit: number;
  /** Rises when the service may have been started anew, so that policies are told again. */
  lives = 0;

  #grpc: grpc.Client;
  readonly #credentials: grpc.ChannelCredentials;
  readonly #log: (line: string) => void;
  readonly #token: string | undefined;
  #isAway = false;
  #isSaid = false;
  #saidAt = -Infinity;
  #deadlines = 0;
  #replaced = -Infinity;
  #pending: { outcome: Message; bytes: number }[] = [];

  constructor(options: ClientOptions = {}) {
    const address = options.address || process.env["TRIPNOTE_CONNECT"] || "127.0.0.1:7171";
    this.address = address.replace(/^http:\/\//, "").replace(/\/$/, "");
    this.caller = options.caller ?? "";
    this.whenDown = options.whenDown ?? "by_effect";
    this.deadlineMs = options.deadlineMs ?? 250;
    this.retryWithinMs = options.retryWithinMs ?? 5_000;
    this.payloadLimit = options.payloadLimit ?? 256 << 10;
    if (!["go_on", "refuse", "by_effect"].includes(this.whenDown)) {
      throw new RangeError(`whenDown is \`${this.whenDown}\`; right would be go_on, refuse or by_effect`);
    }
    if (!(this.deadlineMs > 0 && this.deadlineMs <= 60_000)) {
      throw new RangeError(`deadlineMs is \`${this.deadlineMs}\`; right would be above 0, at most 60000`);
    }
    this.#token = options.token;
    this.#log = options.log ?? ((line) => console.warn(line));
    this.#credentials = options.credentials ?? grpc.credentials.createInsecure();
    this.#grpc = this.#connect();
  }

  #connect(): grpc.Client {
    // A socket's path is no host that HTTP/2 servers accept as the authority.
    const authority = this.address.startsWith("unix:") ? { "grpc.default_authority": "localhost" } : {};
    return new grpc.Client(this.address, this.#credentials, { ...CHANNEL_OPTIONS, ...authority });
  }

  /**
   * Gives up a connection on which nothing comes back, as after a peer that vanished without a word: after three
   * deadlines in a row, and at most every five seconds, in case it is the service that hangs.
   */
  #heed(code: number): void {
    if (code !== grpc.status.DEADLINE_EXCEEDED) return;
    this.#deadlines += 1;
    if (this.#deadlines < STALLS_MAX || performance.now() < this.#replaced + REPLACE_EVERY_MS) return;
    this.#deadlines = 0;
    this.#replaced = performance.now();
    this.#grpc.close();
    this.#grpc = this.#connect();
  }

  /** An agent run; an empty id is none, and its calls meet breakers and no more. */
  session(id: string, policy?: SessionPolicy): Session {
    return new Session(this, id, policy);
  }

  /** Reports what is still untold and closes the connection. */
  async close(): Promise<void> {
    await this.flush();
    this.#grpc.close();
  }

  /** Sends outcomes that wait for the next admit. */
  async flush(): Promise<void> {
    const outcomes = this.take();
    if (outcomes.length > 0 && !(await this.ask("Report", { outcomes }))) this.giveBack(outcomes);
  }

  /**
   * One answer within the deadline; nothing where the service is away. A broken connection is tried once more, where
   * the same request may be sent again; with news of an outage it waits for a service that is just being started anew.
   */
  async ask(method: keyof typeof METHODS, request: Message, isRepeatable = true): Promise<Message | undefined> {
    const deadline = Date.now() + this.deadlineMs;
    let reply = await this.#send(method, request, deadline, false);
    if ("code" in reply && reply.code === grpc.status.UNAVAILABLE && isRepeatable && !this.#isAway) {
      const again = await this.#send(method, request, deadline, true);
      // Of a service that is waited for in vain, the first word is the telling one.
      if (!("code" in again && again.code === grpc.status.DEADLINE_EXCEEDED)) reply = again;
    }
    if (!("code" in reply)) {
      this.#here();
      return reply.answer;
    }
    const code = grpc.status[reply.code]?.toLowerCase() ?? String(reply.code);
    if (!AWAY.has(reply.code)) throw new TripnoteError(code, reply.details);
    this.#heed(reply.code);
    this.#away(code.replaceAll("_", " "));
    return undefined;
  }

  #send(
    method: keyof typeof METHODS,
    request: Message,
    deadline: number,
    waitForReady: boolean,
  ): Promise<{ answer: Message } | { code: number; details: string }> {
    const service = DEFINITIONS[`tripnote.v1.${METHODS[method]}`] as grpc.ServiceDefinition;
    const definition = service[method] as grpc.MethodDefinition<Message, Message>;
    const metadata = new grpc.Metadata({ waitForReady });
    if (this.#token) metadata.set("authorization", `Bearer ${this.#token}`);
    const { path, requestSerialize, responseDeserialize } = definition;
    return new Promise((resolve) => {
      const hear: grpc.requestCallback<Message> = (error, answer) => {
        if (error) resolve({ code: error.code, details: error.details });
        else resolve({ answer: answer ?? {} });
      };
      this.#grpc.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, { deadline }, hear);
    });
  }

  /** With the service away: why this call is not made. Nothing: it is made. */
  refusal(ask: FullAsk): string | undefined {
    const isRefused = this.whenDown === "refuse" || (this.whenDown === "by_effect" && ask.effect === "mutate");
    if (!isRefused) return undefined;
    const why = this.whenDown === "by_effect" ? "it changes something" : "no call goes out unguarded";
    const next = "Do work that needs no such call, or report what is done so far.";
    return `${nameOf(ask)}: not called; the breaker service does not answer and ${why}. ${next}`;
  }

  #away(why: string): void {
    this.#isAway = true;
    if (this.#isSaid || performance.now() < this.#saidAt + SAID_EVERY_MS) return;
    this.#isSaid = true;
    this.#saidAt = performance.now();
    const then = {
      go_on: "calls go on unguarded",
      refuse: "calls are refused",
      by_effect: "calls that change something are refused, others go on unguarded",
    }[this.whenDown];
    this.#log(`tripnote at ${this.address} does not answer (${why}): ${then}`);
  }

  #here(): void {
    this.#deadlines = 0;
    if (!this.#isAway) return;
    this.#isAway = false;
    this.lives += 1;
    if (!this.#isSaid) return;
    this.#isSaid = false;
    this.#log(`tripnote at ${this.address} answers again: calls are guarded`);
  }

  /** Outcomes that wait for the next admit. */
  get waiting(): number {
    return this.#pending.length;
  }

  /** Keeps an outcome for the next admit, the oldest giving way; false where it is too large to be held. */
  hold(outcome: Message): boolean {
    const bytes = sizeOf(outcome);
    if (bytes > PENDING_ITEM_MAX) return false;
    this.#pending.push({ outcome, bytes });
    let held = this.#pending.reduce((sum, each) => sum + each.bytes, 0);
    while (this.#pending.length > PENDING_MAX || held > PENDING_BYTES_MAX) held -= this.#pending.shift()?.bytes ?? held;
    return true;
  }

  take(): Message[] {
    const taken = this.#pending.map((each) => each.outcome);
    this.#pending = [];
    return taken;
  }

  giveBack(outcomes: readonly Message[]): void {
    for (const outcome of [...outcomes, ...this.take()]) this.hold(outcome);
  }
}

/** About the bytes of a message: what fills one is its bytes and texts. */
function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === "string") return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + sizeOf(each), 0);
  if (typeof value === "object" && value !== null) {
    return Object.values(value).reduce((sum: number, each) => sum + 4 + sizeOf(each), 0);
  }
  return 8;
}
