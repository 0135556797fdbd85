// Reads an error of a tool as facts about its call: by code, by name, by cause, and by what HTTP libraries hang on it.
import { seen, type ErrorKind, type Result } from "./values.js";

const BY_CODE: Readonly<Record<string, ErrorKind>> = {
  ECONNREFUSED: "connect_refused",
  EHOSTUNREACH: "connect_refused",
  ENETUNREACH: "connect_refused",
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  UND_ERR_SOCKET: "reset",
  ETIMEDOUT: "timeout",
  ESOCKETTIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls",
  SELF_SIGNED_CERT_IN_CHAIN: "tls",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls",
  CERT_HAS_EXPIRED: "tls",
};

const BY_NAME: Readonly<Record<string, ErrorKind>> = { AbortError: "cancelled_by_caller", TimeoutError: "timeout" };

const CAUSES_MAX = 8;

/** What an error says of the call that threw it. */
export function resultOf(error: unknown): Result {
  const causes = causesOf(error);
  for (const cause of causes) {
    const answered = http(cause);
    if (answered) return answered;
  }
  // The innermost cause knows best: `fetch failed` is often a name that did not resolve.
  for (const cause of causes.reverse()) {
    const kind = kindOf(cause);
    if (kind) return { error: kind };
  }
  return { body: complaint(error), isToolError: true };
}

/** What a `fetch` came to, its body read. */
export async function resultOfResponse(response: Response): Promise<Result> {
  const body = new Uint8Array(await response.arrayBuffer());
  return seen({ body, httpStatus: response.status, headers: [...response.headers] });
}

/** The error in one line. */
export function complaint(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

type Fields = Readonly<Record<string, unknown>>;

function causesOf(error: unknown): Fields[] {
  const causes: Fields[] = [];
  let at: unknown = error;
  while (typeof at === "object" && at !== null && causes.length < CAUSES_MAX && !causes.includes(at as Fields)) {
    const fields = at as Fields;
    causes.push(fields);
    at = fields["cause"] ?? (Array.isArray(fields["errors"]) ? fields["errors"][0] : undefined);
  }
  return causes;
}

function kindOf(error: Fields): ErrorKind | undefined {
  const code = error["code"];
  if (typeof code === "string") {
    if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code];
    if (code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_")) return "tls";
  }
  const name = error["name"];
  return typeof name === "string" && Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
}

/** The answer that an error of an HTTP library carries: `response`, or a status of its own. */
function http(error: Fields): Result | undefined {
  const answer =
    typeof error["response"] === "object" && error["response"] !== null ? (error["response"] as Fields) : error;
  const status = answer["status"] ?? answer["statusCode"];
  if (typeof status !== "number" || status < 100 || status > 599) return undefined;
  const result: Result = { httpStatus: status };
  const headers = answer["headers"] ?? answer["responseHeaders"];
  if (typeof headers === "object" && headers !== null) {
    const entries = headers instanceof Headers ? [...headers] : Object.entries(headers as Fields);
    result.headers = entries.map(([name, value]) => [name, String(value)] as const);
  }
  const body = answer["data"] ?? answer["responseBody"];
  if (typeof body === "string") result.body = body;
  return result;
}
