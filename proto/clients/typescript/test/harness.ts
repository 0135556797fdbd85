// A real service for tests: the binary that TRIPNOTE_BIN names, on its own port, killed and started anew at will.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

import { Client, type ClientOptions } from "../src/index.js";

export const REPOSITORY = fileURLToPath(new URL("../../../../../", import.meta.url));
const WAYS = join(REPOSITORY, "tests", "fixtures", "ways");
const CLOCK = "1767276090000";

export const GUARDED = `
[[breaker]]
code = "orders"
targets = ["GET /orders"]
error_rate = { rules = [{ consecutive = 2 }], jitter = "0%" }

[[breaker]]
code = "payments"
targets = ["charge_card"]
fallback = { name = "charge_backup" }
error_rate = { rules = [{ consecutive = 1 }], open_for = "30s", jitter = "0%" }

[[tool]]
match = "get_*"
effect = "read"
`;

export interface Line {
  call_id: string;
  tool: string;
  arguments: unknown;
  admit: string;
  payload?: string;
  failed?: boolean;
  report?: string;
}

export function scenario(): Line[] {
  const lines = readFileSync(join(WAYS, "scenario.jsonl"), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

/** What the model sees in the end. */
export function sees(line: Line): string {
  if (line.admit !== "go") return line.admit;
  return (line.report === "deliver" ? line.payload : line.report) ?? "";
}

export async function freeAddress(): Promise<string> {
  const probe = createServer();
  await new Promise<void>((ready) => probe.listen(0, "127.0.0.1", ready));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return `127.0.0.1:${port}`;
}

/** In place of an argument: the service listens on a Unix socket. */
export const SOCKET = "unix:";

export class Server {
  #process: ChildProcess | undefined;

  private constructor(
    readonly address: string,
    readonly config: string,
    readonly args: string[],
  ) {}

  /** The service of the script, its clock standing still. */
  static ways(): Promise<Server> {
    return Server.with(readFileSync(join(WAYS, "tripnote.toml"), "utf8"), "--test-clock", CLOCK);
  }

  static async with(config: string, ...args: string[]): Promise<Server> {
    const dir = mkdtempSync(join(tmpdir(), "tripnote-"));
    const address = args[0] === SOCKET ? `unix:${join(dir, "socket")}` : await freeAddress();
    const path = join(dir, "tripnote.toml");
    writeFileSync(path, `grpc = "${address}"\nhttp = "127.0.0.1:0"\n${config}`);
    const server = new Server(
      address,
      path,
      args.filter((arg) => arg !== SOCKET),
    );
    await server.start();
    after(async () => {
      await server.kill();
      rmSync(dir, { recursive: true });
    });
    return server;
  }

  async start(): Promise<void> {
    const binary = process.env["TRIPNOTE_BIN"] || join(REPOSITORY, "target", "debug", "tripnote");
    const child = spawn(binary, ["serve", "--ephemeral", "--config", this.config, ...this.args], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      const said: string[] = [];
      createInterface(child.stderr).on("line", (line) => {
        said.push(line);
        if (line.includes("serving endpoint")) resolve();
      });
      child.once("error", reject);
      child.once("exit", () => reject(new Error(`the service did not start: ${said.join("\n")}`)));
    });
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await gone;
  }

  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }
}

/** Forwards to a service. `hang` leaves the connections that there are open and dead; new ones work. */
export class Proxy {
  readonly #pairs: [Socket, Socket][] = [];
  readonly #listener: NetServer;

  private constructor(to: string) {
    const [host = "", port = ""] = to.split(":");
    this.#listener = createServer((near) => {
      const far = connect(Number(port), host);
      this.#pairs.push([near, far]);
      for (const socket of [near, far]) socket.on("error", () => socket.destroy());
      near.pipe(far).pipe(near);
    });
  }

  static async to(address: string): Promise<Proxy> {
    const proxy = new Proxy(address);
    await new Promise<void>((ready) => proxy.#listener.listen(0, "127.0.0.1", ready));
    after(() => {
      for (const socket of proxy.#pairs.flat()) socket.destroy();
      proxy.#listener.close();
    });
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  hang(): void {
    for (const socket of this.#pairs.flat()) socket.unpipe();
  }
}

export function clientOf(address: string, options: ClientOptions = {}): Client {
  const client = new Client({ address, deadlineMs: 5_000, log: () => undefined, ...options });
  after(() => client.close());
  return client;
}

/** Waits for what must come, however slow the machine is. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error("it did not come");
    await new Promise((next) => setTimeout(next, 20));
  }
}
