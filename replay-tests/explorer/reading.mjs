// The checks of what pages tell: at an earlier moment, of what is not known, taken out, planned, or replaced.
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Store, explore } from './world.mjs';

/** Pages that tell what there is, and offer what can be done. */
export async function reading({ step, open, main, page, store, faults, assert }) {
  // The browser logs each answer that refuses; these are meant.
  const meant = () => { faults.splice(0, faults.length, ...faults.filter((fault) => !fault.startsWith('console: Failed to load resource'))); };
  const newest = () => store.log('-l', '1')[0].position;
  const later = ['--from', '2100-01-01'];
  await step('an earlier moment shows its sessions at work, and the tokens of its day', async () => {
    const env = { ICM_SESSION: 'otter watch' };
    store.icm(['store', '-t', 'pond', '-c', 'The otter sleeps in the reeds'], { env });
    store.icm(['recall', 'otter in the reeds'], { env });
    const then = newest();
    store.store('pond', 'The pond is frozen');
    await open(`/?at=@${then}`);
    const state = page.locator('#state');
    assert.match(await state.getByRole('region', { name: 'Sessions at work' }).innerText(), /otter watch/);
    assert.match(await state.innerText(), /[1-9][\d,]*\s+tokens shown that day/);
  });
  await step('a session of which no event is known has a page', async () => {
    store.icm(['alert', 'set', '--session', 'night to come', 'Look at the lamp']);
    await open('/sessions');
    await page.locator('.reminders').getByRole('link', { name: 'night to come' }).click();
    await page.waitForURL(/\/sessions\/night/);
    assert.match(await page.locator('h1').innerText(), /night to come/);
    assert.match(await main(), /No event of this session is known/);
    assert.match(await main(), /Look at the lamp/);
    assert.equal(await page.locator('h1').count(), 1);
  });
  await step('the list of sessions says what it counts', async () => {
    await open('/sessions');
    assert.equal(await page.getByRole('columnheader', { name: 'Shown unasked' }).count(), 1);
  });
  await step('a redacted memory offers neither redaction nor undo', async () => {
    const { id } = store.store('taken', 'The door code is 4712');
    store.icm(['redact', id, '--yes']);
    await open(`/memories/${id}`);
    assert.match(await main(), /All its text was taken out already/);
    assert.equal(await page.getByRole('link', { name: 'Redact…' }).count(), 0);
    assert.equal(await page.locator('.versions').getByRole('link', { name: 'Undo…' }).count(), 0);
    const [{ position }] = store.log('--id', id, '--kind', 'memory.stored', '-l', '1');
    await open(`/log/${position}`);
    assert.equal(await page.getByRole('link', { name: 'Undo…' }).count(), 0);
    assert.match(await main(), /no undo: its text was taken out/);
  });
  await step('an undone memory offers the undo of its undo alone', async () => {
    const { id, event } = store.store('taken', 'The gate squeaks');
    store.icm(['undo', event, '--yes']);
    await open(`/memories/${id}`);
    for (const name of ['Pin', 'Forget', 'Revive']) assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    assert.ok(await page.locator('.notice').getByRole('link', { name: 'Undo…' }).count() >= 1);
  });
  await step('a value for later is told as such in the log and in the versions', async () => {
    store.icm(['fact', 'set', 'kiln', 'heat', '900']);
    const { id } = store.json(['fact', 'set', 'kiln', 'heat', '1100', ...later]);
    await open(`/log?id=${id}`);
    const log = await main();
    assert.match(log, /planned from 2100-01-01 00:00/);
    assert.match(log, /the current value stays/);
    await open(`/memories/${id}`);
    const versions = await page.locator('.versions').innerText();
    assert.match(versions, /A value for later: valid from 2100-01-01 00:00/);
    assert.match(versions, /The current value stays/);
    assert.doesNotMatch(versions, /\d\dT\d\d:\d\d:\d\d[.\d]*Z/);
  });
  await step('facts with only planned values are listed', async () => {
    store.icm(['fact', 'set', 'orchard', 'harvest', 'pears', ...later]);
    await open('/memories?topic=facts/orchard');
    await page.getByRole('link', { name: 'values of facts for later' }).click();
    await page.waitForURL(/state=planned/);
    assert.match(await main(), /orchard · harvest/);
    assert.match(await main(), /pears/);
    await open('/memories?state=planned');
    assert.match(await main(), /pears/);
    assert.doesNotMatch(await page.locator('.cards').innerText(), /kiln/);
  });
  await step('what is forgotten and revived is told with its text', async () => {
    const { id } = store.store('ducks', 'The ducks sleep on the island');
    store.icm(['forget', id]);
    store.icm(['revive', id]);
    for (const at of ['/', `/log?id=${id}`]) {
      await open(at);
      for (const kind of ['memory.forgotten', 'memory.revived']) {
        const row = page.locator('[data-row]', { hasText: kind }).first();
        assert.match(await row.innerText(), /ducks sleep/, `${kind} on ${at}`);
      }
    }
  });
  await step('the undo of a pin says until when it was pinned, and pages name no command for what a button does', async () => {
    const { id } = store.store('ducks', 'The drake is called Otto');
    store.icm(['pin', id]);
    const [{ event }] = store.log('--id', id, '--kind', 'memory.pinned', '-l', '1');
    await open(`/undo?event=${event}`);
    assert.match(await page.locator('.preview').innerText(), /until it is unpinned/);
    for (const at of ['/memories/none', '/log/ffffffffffff', '/undo?event=ffffffffffff', '/graph/none', '/health', `/undo?event=${event}`]) {
      await open(at);
      assert.doesNotMatch(await main(), /--dry-run|--request-id|icm (list|log|undo|link|forget|revive)\b/, at);
    }
    meant();
  });
  await step('an id of 60 KB is not repeated', async () => {
    const long = 'x'.repeat(60_000);
    for (const at of [`/memories/${long}`, `/log/${long}`, `/sessions/${long}`, `/undo?event=${long}`, `/log?id=${long}`]) {
      assert.equal(await open(at), 400, at.slice(0, 20));
      assert.ok((await page.content()).length < 30_000, at.slice(0, 20));
      assert.equal(await page.locator('h1').count(), 1);
    }
    meant();
  });
}

/** A store that is replaced below an open page. */
export async function replaced({ step, there, faults, assert }) {
  await step('an open page of a store that is replaced shows the new one alone', async () => {
    const [old, fresh] = ['replaced', 'fresh'].map((name) => new Store(name));
    for (const [store, text] of [[old, 'The old house is grey'], [fresh, 'The new house is white']]) {
      for (let n = 0; n < 3; n += 1) store.store('houses', `${text} ${n}`);
    }
    const explorer = await explore(old);
    const page = await there.visit(explorer);
    await page.goto(explorer.address);
    await page.locator('[data-live]').filter({ hasText: /^live$/ }).waitFor();
    assert.match(await page.locator('.feed').innerText(), /old house/);
    const places = [old, fresh].map((store) => path.join(store.dir, 'store'));
    rmSync(places[0], { recursive: true, force: true });
    cpSync(places[1], places[0], { recursive: true, filter: (from) => !from.includes('/sock') });
    await page.locator('.feed').getByText('new house').first().waitFor({ timeout: 20_000 });
    assert.doesNotMatch(await page.locator('main').innerText(), /old house/);
    for (const at of ['/memories', '/log', '/topics']) {
      await page.goto(new URL(at, explorer.origin).href);
      assert.doesNotMatch(await page.locator('main').innerText(), /old house/, at);
    }
    await page.context().close();
    await explorer.stop();
  });
  faults.length = 0;
}
