// Takes the pictures of the guide: who changed a memory, when, and how it is taken back. `run.sh --pictures` starts it.
import path from 'node:path';
import { Store, agent, browser, explore } from './world.mjs';

const folder = process.env.ICM_PICTURES;
const store = new Store('pictures');
const database = store.store('decisions', 'Invoices live in PostgreSQL', '-i', 'high', '-k', 'database,billing');
store.store('decisions/api', 'Errors of the API are problem documents (RFC 9457)');
store.store('preferences', 'Answer in short sentences');
store.store('ops/staging', 'The staging server is called heron');
store.store('ops', 'Deployments go out on Tuesdays');
// The slider needs a log of some seconds.
const later = () => new Promise((done) => { setTimeout(done, 2_500); });
await later();
const claude = agent(store);
await claude.call('icm_memory_recall', { query: 'where do invoices live' });
await claude.call('icm_memory_update', { id: database.id, content: 'Invoices live in MySQL now' });
await claude.stop();
await later();
store.store('ops', 'Backups run at night');

const there = await browser();
const explorer = await explore(store);
const page = await there.visit(explorer, { viewport: { width: 1000, height: 620 } });
const take = (name) => page.screenshot({ path: path.join(folder, `explorer-${name}.png`) });
await page.goto(explorer.address);
await page.waitForURL(`${explorer.origin}/`);
await page.getByLabel('Search memories').fill('where do invoices live');
await page.keyboard.press('Enter');
await page.waitForURL(/q=/);
await take('search');
await page.getByRole('link', { name: 'Open this memory' }).first().click();
await page.waitForURL(/\/memories\/0/);
await take('memory');
await page.getByRole('link', { name: /^Undo/ }).first().click();
await page.waitForURL(/\/undo/);
await take('undo');
await page.getByRole('button', { name: /^Undo 1 event/ }).click();
await page.waitForURL(/\/done\//);
if (!store.icm(['get', database.id]).includes('PostgreSQL')) throw new Error('the undo did not bring the text back');
await there.close();
await explorer.stop();
