// A small agent that charges five invoices over HTTP while the payments API is down, and what it makes of the contract.
//
//   tripnote serve -c proto/clients/example.toml &
//   npm run example
//
// The model is a few lines of rules so that this runs anywhere: it sees nothing but texts, tries again after an error,
// and does what a contract's `action` says. Put a real one in its place.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { Client, resultOfResponse, type Result } from "../src/index.js";

type Arguments = { invoice: number };

/** Charges invoices one by one with the tool that it was told to use. */
class Model {
  #left = [1, 2, 3, 4, 5];
  #tool = "charge_card";
  #hasStopped = false;

  get charged(): number {
    return 5 - this.#left.length;
  }

  asks(): { tool: string; input: Arguments } | undefined {
    const invoice = this.#left[0];
    return this.#hasStopped || invoice === undefined ? undefined : { tool: this.#tool, input: { invoice } };
  }

  sees(text: string): void {
    let said: Record<string, unknown>;
    try {
      said = JSON.parse(text) as Record<string, unknown>;
    } catch {
      return; // An error in words: the same call again, as models do.
    }
    if ("charged" in said) this.#left.shift();
    else if (said["action"] === "switch_to_fallback") this.#tool = String(said["fallback"]);
    else if (said["action"] === "change_route")
      this.#left.push(...this.#left.splice(0, 1)); // Another question first.
    else if ("action" in said) this.#hasStopped = true;
  }
}

/** The tool: one request, and what was seen of it. */
async function post(url: string, input: Arguments): Promise<Result> {
  return resultOfResponse(await fetch(url, { method: "POST", body: JSON.stringify(input) }));
}

let toCard = 0;
const api = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    if (request.url === "/card") {
      toCard += 1;
      response.writeHead(503).end("Service Unavailable");
    } else {
      response.end(`{"charged":${body}}`);
    }
  });
});
await new Promise<void>((ready) => api.listen(0, "127.0.0.1", ready));
const base = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
const urls: Record<string, string> = { charge_card: `${base}/card`, charge_backup: `${base}/backup` };

const client = new Client();
const session = client.session("example-typescript");
const model = new Model();
let calls = 0;
for (let asked = model.asks(); asked && calls < 30; asked = model.asks()) {
  const { tool, input } = asked;
  calls += 1;
  const call = await session.call({ tool, arguments: input, effect: "mutate" }, () => post(urls[tool] ?? base, input));
  console.log(`model asks  ${tool} ${JSON.stringify(input)}\nmodel sees  ${call.text}`);
  model.sees(call.text);
}
await session.close("answered");
await client.close();
api.closeAllConnections();
api.close();
console.log(`charged ${model.charged}, calls ${calls}, requests_to_card ${toCard}`);
