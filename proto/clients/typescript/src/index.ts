// A client of tripnote: ask before a tool call, tell after it, give the model the words in between.
export { Client, type ClientOptions } from "./client.js";
export { complaint, resultOf, resultOfResponse } from "./failures.js";
export { Call, Session, readValue, type Run, type SessionPolicy } from "./session.js";
export {
  TripnoteError,
  seen,
  type Ask,
  type Effect,
  type ErrorKind,
  type Outcome,
  type Result,
  type Told,
  type Trip,
  type WhenDown,
} from "./values.js";
