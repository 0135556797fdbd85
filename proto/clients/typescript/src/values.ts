// What a caller holds in its hands: a trip, what a call came to, what the model is told. Knows no wire and no clock.

/** What becomes of a call that the service does not answer for in time. `by_effect`: a `mutate` is refused. */
export type WhenDown = "go_on" | "refuse" | "by_effect";

/** What a call does to the world; absent where the service's configuration is to say. */
export type Effect = "read" | "mutate" | "unknown";

/** What went wrong with a call apart from its status. */
export type ErrorKind =
  | "connect_refused"
  | "dns"
  | "tls"
  | "reset"
  | "timeout"
  | "cancelled_by_caller"
  | "refused_by_host"
  | "not_sent"
  | "malformed_body";

/** How a session ended; absent: not said, and counted as abandoned. */
export type Outcome = "answered" | "escalated" | "halted" | "abandoned";

/**
 * An answer of the service that is no decision: a malformed request, a missing right. A fault of the program, never of
 * the tool, and nothing to retry.
 */
export class TripnoteError extends Error {
  override readonly name = "TripnoteError";
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(`tripnote: ${code}: ${message}`);
  }
}

/** A refusal that explains itself. The first nine fields are the contract in its order; the model is given `text`. */
export interface Trip {
  readonly action: string;
  readonly breaker: string;
  readonly target: string;
  readonly signal: string;
  readonly observed: string;
  readonly threshold: string;
  readonly state: string;
  readonly doNot: string;
  readonly fallback: string;
  /** For the model, unchanged, in place of a result. Empty where the operator measures silence. */
  readonly text: string;
  /** The name of the wording of `text`. */
  readonly variant: string;
  /** For people, not for the model. */
  readonly urgency: string;
  /** Milliseconds after which the same reason refuses no more. Absent: no deadline. */
  readonly retryAfterMs?: number;
  /** The fallback as a program calls it. */
  readonly fallbackTarget: string;
  /** Tools of this session that cannot be called now: take them out of the model's list for `retryAfterMs`. */
  readonly withdraw: readonly string[];
}

/** A call that is about to be made. `tool` or `target` is required. */
export interface Ask {
  /** The tool as the model knows it. */
  tool?: string;
  /** What is called, where that is not the tool. */
  target?: string;
  /** Any value, sent as JSON; text and bytes are taken to be JSON already. Never kept. */
  arguments?: unknown;
  /** The call within the session; absent: a new one, so that asking again is safe. */
  callId?: string;
  /** Which try it is, from 1. */
  attempt?: number;
  /** The model step, where it is known. */
  turn?: number;
  /** The model's answer that this call is of; identical calls in it are one. */
  waveId?: string;
  /** The user's request. */
  taskId?: string;
  /** What the call is to find out. */
  purpose?: string;
  /** The sub-agent. */
  lane?: string;
  effect?: Effect;
  /** A name for the credential in use, never the secret. */
  credential?: string;
  /** What the target knows a repeat by. */
  idempotencyKey?: string;
  /** The user has approved this very call. */
  userApproved?: boolean;
  /** Gives the call up. */
  signal?: AbortSignal;
}

/** What was seen of a call. Everything is optional; what is known helps. */
export interface Result {
  /** As it came. Longer than the client's `payloadLimit`, it is cut and said to be cut. Absent: not sent along. */
  body?: string | Uint8Array;
  contentType?: string;
  /** The caller cut `body` itself. */
  truncated?: boolean;
  httpStatus?: number;
  headers?: Iterable<readonly [string, string]> | Readonly<Record<string, string>>;
  grpcCode?: number;
  exitCode?: number;
  error?: ErrorKind;
  /** The tool says that this is a failure, and `body` is what it says. */
  isToolError?: boolean;
  /** Your own judgement, in place of all of the above. */
  judged?: "ok" | "ignored" | "failed";
  /** With `judged: "failed"`: the circuit, such as `error_rate` or `quota_exhausted.rate`. */
  circuit?: string;
  /** With `judged: "failed"`: the wait that the target asked for, in milliseconds. */
  retryAfterMs?: number;
}

const SEEN = Symbol("tripnote.seen");

/** Says that this is what was seen of a call, and not a tool's own value that happens to have such fields. */
export function seen(result: Result): Result {
  return Object.assign({ ...result }, { [SEEN]: true });
}

export function isSeen(value: unknown): value is Result {
  return typeof value === "object" && value !== null && SEEN in value;
}

/** What is to be done with a reported result. */
export interface Told {
  /** The service's word, such as `deliver` or `trip`; `away` where it did not answer. */
  readonly disposition: string;
  /** What the service says to the model. Empty: nothing. */
  readonly text: string;
  /** `text` stands in place of the result; otherwise under it. */
  readonly replaces: boolean;
  readonly trip?: Trip;
  /**
   * A passing fault of a call that is safe to repeat: wait so many milliseconds and call again as the next attempt, and
   * the model hears nothing. Who cannot gives the model `text`.
   */
  readonly retryAfterMs?: number;
  readonly observation: string;
  readonly signal: string;
  readonly usable: boolean;
  readonly acknowledgement: string;
}

/** A value as text, as models are shown it. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return String(value);
  }
}
