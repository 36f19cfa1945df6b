// The world of the checks: a store with something of each kind, the explorer that serves it, and a browser.
import { execFileSync, spawn } from 'node:child_process';

import { mkdirSync, cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { chromium } = require(process.env.PLAYWRIGHT);
const ICM = process.env.ICM;

/** A store, and icm on it. */
export class Store {
  constructor(name) {
    this.dir = path.join(process.env.ICM_WORK, name);
    mkdirSync(this.dir, { recursive: true });
  }

  env(more = {}) {
    return {
      PATH: process.env.PATH, HOME: process.env.HOME, ICM_DB: path.join(this.dir, 'store'), NO_COLOR: '1', TZ: 'UTC', ...more,
    };
  }

  /** Runs icm and returns its stdout. */
  icm(args, { input = '', env = {} } = {}) {
    return execFileSync(ICM, ['--config', '/dev/null', ...args], {
      env: this.env(env), cwd: this.dir, input, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  json(args, options) {
    return JSON.parse(this.icm(['--json', ...args], options));
  }

  /** The events that `icm log` lists. */
  log(...args) {
    return this.icm(['--json', 'log', ...args]).split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  store(topic, text, ...more) {
    return this.json(['store', '-t', topic, '-c', text, ...more]);
  }

  /** A second folder with the same store. */
  copy(name) {
    const other = new Store(name);
    rmSync(other.dir, { recursive: true, force: true });
    cpSync(this.dir, other.dir, { recursive: true, filter: (from) => !from.includes('/sock') });
    return other;
  }
}

/** An explorer of a store, until `stop`. */
export async function explore(store, ...more) {
  const child = spawn(ICM, ['--config', '/dev/null', 'explore', '--no-open', ...more], {
    env: store.env(), cwd: store.dir, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (bytes) => { said += bytes; });
  const lines = readline.createInterface({ input: child.stdout });
  const first = await Promise.race([
    new Promise((found) => lines.once('line', found)),
    new Promise((_, failed) => child.once('exit', (code) => failed(new Error(`icm explore ended with ${code}: ${said}`)))),
  ]);
  const address = new URL(first);
  return {
    address: first,
    origin: address.origin,
    said: () => said,
    stop: () => new Promise((ended) => { child.once('exit', ended); child.kill('SIGTERM'); }),
  };
}

/** An MCP client over stdio that calls tools, one after another. */
export function agent(store) {
  const child = spawn(ICM, ['--config', '/dev/null', 'serve'], { env: store.env(), cwd: store.dir, stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = readline.createInterface({ input: child.stdout });
  const waiting = new Map();
  let next = 1;
  lines.on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const ask = (method, params) => new Promise((answered) => {
    const id = next++;
    waiting.set(id, answered);
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
  const ready = ask('initialize', {
    protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'claude-code', version: '1.0' },
  }).then(() => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`));
  return {
    call: async (name, args) => { await ready; return ask('tools/call', { name, arguments: args }); },
    stop: () => new Promise((ended) => { child.once('exit', ended); child.stdin.end(); }),
  };
}

/** A browser whose pages note reports of the policy, errors of scripts, and requests to other hosts. */
export async function browser() {
  const launched = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  const faults = [];
  const visit = async (explorer, options = {}) => {
    const context = await launched.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    await context.exposeBinding('reportOfPolicy', (_, what) => { faults.push(`policy: ${what}`); });
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        window.reportOfPolicy(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} on ${location.href}`);
      });
    });
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(`script: ${error}`));
    page.on('console', (message) => { if (message.type() === 'error') faults.push(`console: ${message.text()} (${page.url()})`); });
    page.on('dialog', (dialog) => { faults.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== explorer.origin) faults.push(`a request to ${request.url()}`);
    });
    return page;
  };
  return { visit, faults, close: () => launched.close() };
}

/** Texts that do harm where they are not shown as text. */
export const HOSTILE = [
  '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">',
  '"><svg onload="document.title=\'owned\'"> \' onmouseover=alert(1) x=\'',
  'javascript:document.title="owned"',
  '</textarea></pre></title><style>*{display:none}</style><iframe src="http://example.org"></iframe>',
  'reads backwards \u202e txt.exe \u2066isolate\u2069 and \u200b\u00ad\u0000\u001b[31mred\u001b[0m \u0007bell',
];
