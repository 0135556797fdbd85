// Draws boards from a live Prometheus: `node draw.mjs --prometheus http://127.0.0.1:9090 --out out ../grafana/*.json`.
// Writes <out>/<board>-<theme>.png and <out>/<board>.json with the text of every panel. Status 1 where a panel failed.
import { createServer, request } from 'node:http';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const { values: option, positionals: boards } = parseArgs({
  allowPositionals: true,
  options: {
    prometheus: { type: 'string', default: 'http://127.0.0.1:9090' },
    out: { type: 'string', default: 'out' },
    from: { type: 'string' }, // seconds since 1970; an hour before `to` unless told
    to: { type: 'string' },
    scrape: { type: 'string', default: '15' },
    theme: { type: 'string', multiple: true, default: ['dark', 'light'] },
    var: { type: 'string', multiple: true, default: [] }, // name=value
    scale: { type: 'string', default: '1' }, // of the picture
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
const dist = new URL('dist/', import.meta.url).pathname;
const upstream = new URL(option.prometheus);
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const files = new Map(boards.map((path) => [basename(path, '.json'), path]));

const server = createServer((asked, answer) => {
  const { pathname } = new URL(asked.url, 'http://localhost');
  if (pathname.startsWith('/api/v1/')) {
    const onward = request({ host: upstream.hostname, port: upstream.port, path: asked.url }, (got) => {
      answer.writeHead(got.statusCode, { 'content-type': 'application/json' });
      got.pipe(answer);
    });
    onward.on('error', (error) => answer.writeHead(502).end(JSON.stringify({ status: 'error', error: String(error) })));
    return onward.end();
  }
  try {
    const board = files.get(pathname.replace('/board/', ''));
    const path = board ?? join(dist, pathname === '/' ? 'index.html' : normalize(pathname));
    const bytes = readFileSync(path);
    answer.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/json' }).end(bytes);
  } catch {
    answer.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

const to = Number(option.to ?? Math.floor(Date.now() / 1000));
const from = Number(option.from ?? to - 3600);
const browser = await chromium.launch({ executablePath: option.chromium, args: ['--no-sandbox'] });
let failed = 0;
mkdirSync(option.out, { recursive: true });
for (const name of files.keys()) {
  for (const theme of option.theme) {
    // As tall as the tallest board: tables draw only what is in view.
    const page = await browser.newPage({ viewport: { width: 1620, height: 4200 }, deviceScaleFactor: Number(option.scale) });
    page.on('pageerror', (error) => console.error(`${name}: ${error}`));
    const search = new URLSearchParams({ board: name, from, to, theme, scrape: option.scrape });
    option.var.map((pair) => pair.split('=')).forEach(([key, value]) => search.set(`var-${key}`, value));
    await page.goto(`http://127.0.0.1:${server.address().port}/?${search}`);
    await page.waitForSelector('body[data-done]', { timeout: 120_000 });
    const panels = await page.$$eval('[data-panel]', (all) => all.map((one) => ({
      title: one.dataset.panel, text: one.innerText, error: one.querySelector('.error')?.textContent,
    })));
    const marks = await page.$eval('.marks', (one) => one.innerText).catch(() => '');
    panels.filter(({ error }) => error).forEach(({ title, error }) => console.error(`${name}: ${title}: ${error}`));
    failed += panels.filter(({ error }) => error).length + (panels.length === 0 ? 1 : 0);
    writeFileSync(join(option.out, `${name}.json`), JSON.stringify({ marks, panels }, null, 1));
    await (await page.$('#board') ?? page).screenshot({ path: join(option.out, `${name}-${theme}.png`) });
    await page.close();
  }
}
await browser.close();
server.close();
process.exit(failed > 0 ? 1 : 0);
