// Drives the explorer in a browser, and asserts on what its pages hold. `run.sh` starts it.
import assert from 'node:assert/strict';
import { Store, agent, browser, explore } from './world.mjs';

const all = process.argv.includes('--all');
const shots = process.env.ICM_SCREENSHOTS;
const PAGES = ['/', '/memories', '/topics', '/log', '/graph', '/sessions', '/health', '/machines', '/numbers', '/compare'];

let wrong = 0;
async function step(name, work) {
  const from = faults.length;
  try {
    await work();
    const found = faults.slice(from);
    assert.equal(found.length, 0, found.join('\n'));
    console.log(`ok      ${name}`);
  } catch (error) {
    wrong += 1;
    console.log(`WRONG   ${name}\n${String(error.stack ?? error).split('\n').slice(0, 14).join('\n')}`);
  }
}

/** A store with something of each kind, made by the command line as a user and by an agent over MCP. */
async function fill(store) {
  const rows = {};
  rows.database = store.store('decisions', 'Invoices live in PostgreSQL 15', '-i', 'high', '-k', 'database,billing');
  store.store('decisions/api', 'Errors of the API are problem documents (RFC 9457)');
  store.store('preferences', 'Answer in short sentences');
  rows.rule = store.store('preferences', 'Run the tests before a commit', '-i', 'critical');
  rows.gone = store.store('scratch', 'A note that nobody needs');
  store.icm(['forget', rows.gone.id]);
  const claude = agent(store);
  await claude.call('icm_memory_update', { id: rows.database.id, content: 'Invoices live in MySQL now' });
  await claude.call('icm_memory_store', { topic: 'ops', content: 'The staging server is called heron' });
  await claude.call('icm_memory_recall', { query: 'where do invoices live' });
  await claude.stop();
  rows.old = store.store('versions', 'The frontend is built with webpack');
  rows.new = store.store('versions', 'The frontend is built with vite now');
  store.icm(['link', rows.new.id, rows.old.id, '-r', 'supersedes']);
  store.icm(['memoir', 'create', '-n', 'shop', '-d', 'How the shop works']);
  for (const [name, text] of [['cart', 'Holds what a customer wants to buy'], ['invoice', 'Asks for money'], ['ledger', 'Keeps what was paid']]) {
    store.icm(['memoir', 'add-concept', '-m', 'shop', '-n', name, '-d', text, '-L', 'domain:money']);
  }
  store.icm(['memoir', 'link', '-m', 'shop', '--from', 'cart', '--to', 'invoice', '-r', 'depends_on']);
  store.icm(['fact', 'set', 'deploy', 'version', '2.1']);
  store.icm(['alert', 'set', '--session', 's1', 'Look at the queue']);
  return rows;
}

const there = await browser();
const { faults } = there;
const store = new Store('main');
const rows = await fill(store);
const explorer = await explore(store);
const page = await there.visit(explorer);

const open = async (at, target = page) => {
  const answer = await target.goto(new URL(at, explorer.origin).href, { waitUntil: 'load' });
  return answer.status();
};
const main = (target = page) => target.locator('main').innerText();

await step('the address opens once, and leaves no key behind', async () => {
  assert.match(explorer.address, /^http:\/\/127\.0\.0\.1:\d+\/\?key=[0-9a-f]{64}$/);
  assert.equal((await page.goto(explorer.address)).status(), 200);
  await page.waitForURL(`${explorer.origin}/`);
  const second = await there.visit(explorer);
  const answer = await second.goto(explorer.address);
  assert.equal(answer.status(), 401);
  assert.match(await second.locator('body').innerText(), /opens once/);
  await second.context().close();
  // The browser logs the refusal; it was meant.
  faults.length = 0;
});

await step('each page has one heading, landmarks, and its own content', async () => {
  for (const at of PAGES) {
    assert.equal(await open(at), 200, at);
    assert.equal(await page.locator('h1').count(), 1, at);
    for (const landmark of ['banner', 'main', 'navigation', 'search']) {
      assert.ok(await page.getByRole(landmark).count() >= 1, `${landmark} of ${at}`);
    }
    assert.ok((await main()).length > 40, `${at} is empty`);
  }
  await open('/memories');
  assert.match(await main(), /Invoices live in MySQL now/);
  assert.doesNotMatch(await main(), /A note that nobody needs/);
});

await step('a memory that an MCP client stores appears without a reload', async () => {
  await open('/');
  await page.waitForLoadState('load');
  await page.locator('[data-live]').filter({ hasText: 'live' }).waitFor();
  const claude = agent(store);
  await claude.call('icm_memory_store', { topic: 'live', content: 'The kestrel nests on the roof' });
  await page.locator('main').getByText('kestrel').first().waitFor({ timeout: 5000 });
  await claude.stop();
});

await step('the moment before an update shows the old text, and the address reopens it', async () => {
  await open(`/memories/${rows.database.id}`);
  const title = await page.title();
  await page.locator('#shown:not([hx-get])').waitFor();
  await page.locator('#near:not([hx-get])').waitFor();
  assert.equal(await page.title(), title, 'parts that come later leave the title alone');
  assert.match(await main(), /Invoices live in MySQL now/);
  await open(`/memories/${rows.database.id}?at=@${rows.database.position}`);
  assert.match(await main(), /Invoices live in PostgreSQL 15/);
  assert.match(await page.getByRole('region', { name: 'Moment' }).innerText(), /As of/);
  assert.equal(await page.getByRole('button', { name: 'Forget' }).count(), 0, 'the past offers a change');
  const address = page.url();
  await open('/');
  await page.goto(address);
  assert.match(await main(), /Invoices live in PostgreSQL 15/);
});

await step('an undo on the page equals the one of the command line', async () => {
  const twin = store.copy('twin');
  const [{ event }] = store.log('--id', rows.database.id, '--kind', 'memory.updated', '-l', '1');
  const plan = twin.json(['undo', event, '--dry-run']);
  await open(`/undo?event=${event}`);
  for (const word of ['Invoices live in MySQL now', 'Invoices live in PostgreSQL 15']) assert.match(await main(), new RegExp(word));
  assert.match(await page.locator('.preview').innerText(), new RegExp(`${plan.events} event`));
  await page.getByRole('button', { name: /^Undo \d+ event/ }).click();
  await page.waitForURL(/\/done\//);
  twin.icm(['undo', event, '--yes']);
  const seen = (of) => of.icm(['get', rows.database.id, '--json']).replace(/"weight":[^,]*/, '');
  assert.equal(seen(store), seen(twin));
  assert.match(seen(store), /PostgreSQL 15/);
});

if (all) {
  const { actions, hostile, foreign, keyboard, looks } = await import('./more.mjs');
  const { forms, streams, opening } = await import('./edges.mjs');
  const { reading, replaced } = await import('./reading.mjs');
  const world = { step, open, main, page, store, rows, explorer, there, faults, shots, PAGES, assert };
  await actions(world);
  await forms(world);
  await reading(world);
  await streams(world);
  await opening(world);
  await replaced(world);
  await keyboard(world);
  await looks(world);
  await hostile(world);
  await foreign(world);
}

await step('the explorer ends with an open page, and says no fault', async () => {
  await open('/');
  const code = await explorer.stop();
  assert.equal(code, 0);
  assert.doesNotMatch(explorer.said(), /panick|ERROR/);
  // The stream was cut off by the end of the server.
  faults.length = 0;
});
await there.close();
console.log(wrong === 0 ? 'the explorer: all as expected' : `the explorer: ${wrong} steps went wrong`);
process.exit(wrong === 0 ? 0 : 1);
