// An agent run and its calls: ask, run, tell. Decides when to run again and what the model sees.
import { randomUUID } from "node:crypto";

import type { Client } from "./client.js";
import { complaint, resultOf } from "./failures.js";
import {
  isSeen,
  textOf,
  TripnoteError,
  type Ask,
  type Effect,
  type Outcome,
  type Result,
  type Told,
  type Trip,
} from "./values.js";
import {
  admitRequest,
  AWAY,
  effectWord,
  fit,
  nameOf,
  outcomeMessage,
  toldOf,
  tripOf,
  type FullAsk,
  type Message,
} from "./wire.js";

/** More silent attempts than the service ever asks for in a row. */
const ATTEMPTS_MAX = 4;

/** What one session is held to; fields of `SessionPolicy`. */
export interface SessionPolicy {
  requiredTools?: string[];
  allow?: string[];
  tools?: { name: string; target?: string; effect?: Effect; domain?: string; alternative?: string }[];
  escalationTool?: string;
  excludedHypotheses?: string[];
  knownIds?: string[];
  thresholds?: Record<string, number>;
  strict?: boolean;
}

/** What `Session.call` runs. It returns `seen(…)`, or any value, which is reported as text or JSON. */
export type Run<T> = (attempt: number) => Promise<T> | T;

/** An agent run. */
export class Session {
  readonly id: string;
  readonly caller: string;
  readonly #policy: Message | undefined;
  #toldIn = -1;

  constructor(
    readonly client: Client,
    id: string,
    policy?: SessionPolicy,
  ) {
    this.id = fit(id);
    this.caller = fit(client.caller);
    const tools = policy?.tools?.map((tool) => ({ ...tool, effect: effectWord(tool.effect) })) ?? [];
    this.#policy = policy ? { ...policy, tools } : undefined;
  }

  get #ref(): Message {
    return { sessionId: this.id, caller: this.caller };
  }

  /** Ends it. Outcomes that wait are told first. */
  async close(outcome?: Outcome, success?: boolean): Promise<void> {
    await this.client.flush();
    if (!this.id) return;
    const request = {
      session: this.#ref,
      outcome: `SESSION_OUTCOME_${(outcome ?? "unspecified").toUpperCase()}`,
      ...(success === undefined ? {} : { success }),
    };
    try {
      await this.client.ask("CloseSession", request);
    } catch (error) {
      // It never called a tool, or the service was started anew.
      if (!(error instanceof TripnoteError && error.code === "not_found")) throw error;
    }
  }

  /** The model's context was compacted: a repeat of what it forgot is forgiven once. */
  async compacted(): Promise<void> {
    await this.client.ask("AdvanceContextEpoch", { session: this.#ref }, false);
  }

  /** Holds an answer against the evidence: what to tell the model, or an empty text where it may be shown. */
  async review(answer: string): Promise<string> {
    const reply = await this.client.ask("ReviewAnswer", { session: this.#ref, text: answer }, false);
    return reply?.["verdict"] === "REVIEW_VERDICT_SEND_BACK" ? String(reply["message"]) : "";
  }

  /** Asks about one call, which is then to be told with `report`, `failed` or `later`. */
  async admit(ask: Ask): Promise<Call> {
    const full: FullAsk = {
      ...ask,
      callId: ask.callId || (this.id ? randomUUID() : ""),
      attempt: ask.attempt ?? 1,
      sessionId: this.id,
      caller: this.caller,
    };
    await this.#open();
    const reports = this.client.take();
    let answer: Message | undefined;
    try {
      answer = await this.client.ask("Admit", admitRequest(full, reports), full.callId !== "");
    } finally {
      if (!answer) this.client.giveBack(reports);
    }
    return new Call(this.client, full, answer);
  }

  /**
   * Asks, runs, tells; waits and runs again where the service says that this is safe. `read` says what the value was as
   * a result. What the model sees is `text` of the call that comes back; an error of `run` is read as what it is. Where
   * the call's signal gives it up, its reason is thrown.
   */
  async call<T>(ask: Ask, run: Run<T>, read: (value: T) => Result = readValue): Promise<Call<T>> {
    const callId = ask.callId || randomUUID();
    const first = ask.attempt ?? 1;
    for (let attempt = first; ; attempt += 1) {
      const call = (await this.admit({ ...ask, callId, attempt })) as Call<T>;
      if (!call.mayGo) return call;
      let told: Told;
      try {
        call.value = await run(attempt);
      } catch (error) {
        if (ask.signal?.aborted) {
          await call.later({ error: "cancelled_by_caller" });
          throw error;
        }
        call.error = error;
      }
      if (call.error === undefined) told = await call.report(read(call.value as T), textOf(shownOf(call.value)));
      else told = await call.failed(call.error);
      const wait = told.retryAfterMs;
      if (wait === undefined || wait > this.client.retryWithinMs || attempt + 1 >= first + ATTEMPTS_MAX) return call;
      await pause(wait, ask.signal);
    }
  }

  /** A function as a guarded tool: it returns the text for the model. */
  guarded<A, T>(ask: Ask & { tool: string }, run: (input: A) => Promise<T> | T): (input: A) => Promise<string> {
    return async (input) => (await this.call({ ...ask, arguments: input }, () => run(input))).text;
  }

  /** Tells the policy, again where the service may have forgotten it. */
  async #open(): Promise<void> {
    const lives = this.client.lives;
    if (!this.#policy || this.#toldIn === lives) return;
    const answer = await this.client.ask("OpenSession", { session: this.#ref, policy: this.#policy });
    if (answer) this.#toldIn = this.client.lives;
  }
}

/** One call that was asked about. */
export class Call<T = unknown> {
  /** The refusal, where the service refused. */
  readonly trip: Trip | undefined;
  /** What a circuit in shadow would have said: for logs, not for the model. */
  readonly shadowTrip: Trip | undefined;
  /** For the model: what is shut no more. */
  readonly notices: readonly string[];
  /** What is to be done with the result. */
  told: Told | undefined;
  /** What the tool returned, and what it threw, where it was run by `Session.call`. */
  value: T | undefined;
  error: unknown;

  readonly #permit: Uint8Array | undefined;
  readonly #isProbe: boolean;
  readonly #refusal: string | undefined;
  readonly #started = performance.now();
  #shown = "";

  constructor(
    private readonly client: Client,
    readonly ask: FullAsk,
    answer: Message | undefined,
  ) {
    const permit = answer?.["permit"] as Message | undefined;
    this.trip = answer?.["decision"] === "trip" ? tripOf(answer["trip"]) : undefined;
    this.shadowTrip = tripOf(answer?.["shadowTrip"]);
    this.notices = Array.isArray(permit?.["notices"]) ? permit["notices"].map(String) : [];
    this.#permit = answer?.["decision"] === "permit" ? (permit?.["token"] as Uint8Array) : undefined;
    this.#isProbe = permit?.["probe"] === true;
    this.#refusal = answer ? this.trip?.text : client.refusal(ask);
  }

  /** Whether the call may be made. */
  get mayGo(): boolean {
    return this.#refusal === undefined;
  }

  /** Whether the service decided, and awaits a report. */
  get isGuarded(): boolean {
    return this.#permit !== undefined;
  }

  /** Whether the result goes to the model as it is. */
  get isPlain(): boolean {
    return this.mayGo && this.error === undefined && !this.told?.text && this.notices.length === 0;
  }

  /** What the model sees of this call. */
  get text(): string {
    if (this.#refusal !== undefined) return this.#refusal;
    const { text = "", replaces = false } = this.told ?? {};
    const shown = replaces ? text : text ? `${this.#shown}\n${text}` : this.#shown;
    return [shown, ...this.notices].join("\n");
  }

  /** Tells at once what came back and says what to do with it. `shown`: its text for the model, where not its body. */
  async report(result: Result, shown?: string): Promise<Told> {
    this.#shown = shown ?? bodyText(result);
    return this.#tell(result);
  }

  /** Tells that the call failed. What the model sees, where the service has nothing better, is the error's line. */
  async failed(error: unknown): Promise<Told> {
    this.error = error;
    this.#shown = `${nameOf(this.ask)}: ${complaint(error)}`;
    return this.#tell(resultOf(error));
  }

  /**
   * Lets the outcome ride on the next admit: one request per call, and the model gets the result as it is. A probe, of
   * which everybody waits to hear, and what is too large to be held go at once.
   */
  async later(result: Result, shown?: string): Promise<void> {
    this.#shown = shown ?? bodyText(result);
    const outcome = this.#outcome(result);
    if (outcome && !this.#isProbe && this.client.hold(outcome)) this.told = { ...AWAY, disposition: "deliver" };
    else await this.#tell(result);
  }

  #outcome(result: Result): Message | undefined {
    if (!this.#permit) return undefined;
    const latencyMs = performance.now() - this.#started;
    return outcomeMessage(this.ask, this.#permit, result, this.client.payloadLimit, latencyMs);
  }

  async #tell(result: Result): Promise<Told> {
    this.told = AWAY;
    const outcome = this.#outcome(result);
    if (!outcome) return this.told;
    const answer = await this.client.ask("Report", { outcomes: [outcome] });
    if (!answer) {
      this.client.hold(outcome);
      return this.told;
    }
    const said = (answer["results"] as Message[])[0] ?? {};
    const fault = said["error"] as Message | null | undefined;
    if (fault) throw new TripnoteError("invalid_argument", `${String(fault["field"])}: ${String(fault["message"])}`);
    const payload = outcome["payload"] as Message | undefined;
    const isOurCut = payload?.["truncatedByCaller"] === true && !result.truncated;
    this.told = toldOf(this.ask, said["ack"], isOurCut);
    // It does not know what it once answered: it was started anew.
    if (this.told.acknowledgement === "unknown") this.client.lives += 1;
    return this.told;
  }
}

/** The result of a function: what was seen, text, or a value as JSON. */
export function readValue(value: unknown): Result {
  if (isSeen(value)) return value;
  // It went well and says nothing: not an empty answer to a question.
  if (value === undefined) return { judged: "ok" };
  if (typeof value === "string" || value instanceof Uint8Array) return { body: value };
  return { body: textOf(value), contentType: "application/json" };
}

function shownOf(value: unknown): unknown {
  return bodyText(readValue(value));
}

function bodyText(result: Result): string {
  if (result.body === undefined) return "";
  return typeof result.body === "string" ? result.body : Buffer.from(result.body).toString("utf8");
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
