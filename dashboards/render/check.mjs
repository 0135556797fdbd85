// Draws every board twice, of a service that has just begun and of one that scripted agents have called, and reads what is
// on the page: nothing is missing where zero is the truth, and headlines say what the script knows.
// `TRIPNOTE_BIN=../../target/debug/tripnote node check.mjs [--out out]`; needs Debian's prometheus and chromium.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: option } = parseArgs({ options: { out: { type: 'string', default: 'out' } } });
const here = (path) => new URL(path, import.meta.url).pathname;
const program = process.env.TRIPNOTE_BIN ?? here('../../target/debug/tripnote');
const boards = readdirSync(here('../grafana')).map((name) => here(`../grafana/${name}`));
const home = mkdtempSync(join(tmpdir(), 'tripnote-boards-'));
const running = [];
const faults = [];

function free() {
  return new Promise((done) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const env = { ...process.env, TRIPNOTE_LOG_LEVEL: 'error' };
const start = (command, words) => running.push(spawn(command, words, { env, stdio: ['ignore', 'ignore', 'inherit'] }));

async function until(what, isSo) {
  for (let nth = 0; nth < 300; nth += 1) {
    if (await isSo().catch(() => false)) return;
    await pause(100);
  }
  throw new Error(`in vain for 30 s: ${what}`);
}

/** Texts of the panels by board and title, as they stand on the page. */
function drawn(state, prometheus) {
  const to = Math.floor(Date.now() / 1000) + 1;
  const words = ['--prometheus', prometheus, '--out', join(option.out, state), '--scrape', '1', '--from', to - 300, '--to', to];
  const drew = spawnSync('node', [here('draw.mjs'), ...words.map(String), ...boards], { encoding: 'utf8' });
  if (drew.status !== 0) faults.push(`${state}: ${drew.stderr}`);
  const texts = new Map();
  for (const name of ['overview', 'messages', 'breakers', 'sessions', 'service']) {
    const { panels } = JSON.parse(readFileSync(join(option.out, state, `${name}.json`), 'utf8'));
    panels.forEach(({ title, text }) => texts.set(`${name} / ${title}`, text.replaceAll('\n', ' ')));
  }
  for (const [at, text] of texts) {
    if (text.includes('No data')) faults.push(`${state}: ${at} says "No data"`);
  }
  return texts;
}

function expect(texts, at, due) {
  const text = texts.get(at);
  if (text === undefined || !due(text)) faults.push(`${at} shows "${text}"`);
}

try {
  const [grpc, http, web] = [await free(), await free(), await free()];
  const breakers = readFileSync(here('../../src/cli/sim/breakers.toml'), 'utf8');
  writeFileSync(join(home, 'tripnote.toml'), `grpc = "127.0.0.1:${grpc}"\nhttp = "127.0.0.1:${http}"\n${breakers}`);
  const rules = ['recording', 'alerts'].map((name) => here(`../prometheus/${name}.rules.yaml`));
  const scraped = `- {job_name: tripnote, static_configs: [{targets: ['127.0.0.1:${http}']}]}`;
  const times = '{scrape_interval: 1s, evaluation_interval: 1s}';
  writeFileSync(join(home, 'prometheus.yml'), `global: ${times}\nrule_files: ${JSON.stringify(rules)}\nscrape_configs:\n${scraped}\n`);
  start(program, ['serve', '--ephemeral', '--config', join(home, 'tripnote.toml')]);
  const listen = `--web.listen-address=127.0.0.1:${web}`;
  start('prometheus', [`--config.file=${join(home, 'prometheus.yml')}`, `--storage.tsdb.path=${join(home, 'data')}`, listen, '--log.level=error']);
  const prometheus = `http://127.0.0.1:${web}`;
  const query = async (expr) => (await (await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(expr)}`)).json()).data.result;
  await until('two scrapes', async () => (await query('count_over_time(tripnote_build_info[1m]) >= 5')).length > 0);

  const empty = drawn('empty', prometheus);
  for (const at of ['overview / Open breakers', 'overview / Alerts firing', 'sessions / Open sessions', 'service / Events lost']) {
    expect(empty, at, (text) => /\b0$/.test(text.trim()));
  }
  for (const [at, word] of [['overview / Repeat rate', 'no trips'], ['sessions / Ended in a halt', 'no sessions']]) {
    expect(empty, at, (text) => text.endsWith(word));
  }

  const sum = { concluded: 0, repeated: 0, matched: 0, ended: 0, halted: 0 };
  for (const seed of ['1', '2', '3']) {
    const words = ['--connect', `127.0.0.1:${grpc}`, '--json', 'sim', '--sessions', '150', '--seed', seed];
    const sim = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 64 << 20 });
    if (sim.status !== 0) faults.push(`the script and the service differ: ${sim.stderr}`);
    for (const { type, signal, truth } of sim.stdout.trim().split('\n').map((line) => JSON.parse(line))) {
      if (type === 'figures' && signal) {
        sum.concluded += truth.concluded;
        sum.repeated += truth.repeated_trips;
        sum.matched += truth['first_actions.match'];
      }
      if (type === 'sessions') {
        sum.ended += truth.answered + truth.escalated + truth.halted + truth.abandoned;
        sum.halted += truth.halted;
      }
    }
    await pause(2500); // so that rates have more than one sample
  }
  const full = drawn('full', prometheus);
  const near = (due) => (text) => Math.abs(Number(/([\d.]+)\s*%/.exec(text)?.[1]) - 100 * due) <= Math.max(0.06, 2 * due);
  expect(full, 'overview / Repeat rate', near(sum.repeated / sum.concluded));
  expect(full, 'overview / First-action match', near(sum.matched / sum.concluded));
  expect(full, 'sessions / Ended in a halt', near(sum.halted / sum.ended));
  expect(full, 'overview / Replicas up', (text) => /\b1$/.test(text.trim()));
  console.log(`${full.size} panels of ${boards.length} boards, drawn empty and full in two schemes: ${faults.length} faults`);
} catch (error) {
  faults.push(String(error));
} finally {
  running.forEach((child) => child.kill());
  await pause(300);
  rmSync(home, { recursive: true, force: true });
}
faults.forEach((fault) => console.error(fault));
process.exit(faults.length > 0 ? 1 : 0);
