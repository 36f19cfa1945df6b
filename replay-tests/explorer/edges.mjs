// The checks of the explorer at its edges: forms posted twice, pages that are out of date, streams, strange texts.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { explore } from './world.mjs';

/** Forms: posted twice, from a page that is out of date, with texts that a browser changes. */
export async function forms({ step, open, main, page, store, faults, assert }) {
  const get = (id) => store.json(['get', id]);
  const events = () => store.log('-l', '1')[0].position;
  // The browser logs each answer that refuses; these are meant.
  const meant = () => { faults.splice(0, faults.length, ...faults.filter((fault) => !fault.startsWith('console: Failed to load resource'))); };
  const twice = async (action) => {
    const form = await page.locator(`form[action="/act/${action}"]`).first().evaluate((form) => Object.fromEntries(new FormData(form)));
    return async (more = {}) => {
      const places = [];
      let after;
      for (let times = 0; times < 2; times += 1) {
        const answer = await page.request.post(new URL(`/act/${action}`, page.url()).href, {
          form: { ...form, ...more }, headers: { origin: new URL(page.url()).origin }, maxRedirects: 0,
        });
        assert.equal(answer.status(), 303, `${action}, post ${times + 1}`);
        places.push(answer.headers().location);
        if (times === 0) after = events();
      }
      assert.equal(places[0], places[1], action);
      assert.match(places[0], /^\/done\//, action);
      assert.equal(events(), after, `${action} worked twice`);
    };
  };
  await step('a form that is posted twice works once, and both answers are the same page', async () => {
    const { id } = store.store('twice', 'The gate is green');
    await open(`/memories/${id}`);
    await (await twice('update'))({ content: 'The gate is grey' });
    assert.equal(get(id).content, 'The gate is grey');
    await open(`/memories/${id}`);
    await (await twice('pin'))();
    await open(`/memories/${id}`);
    await (await twice('forget'))();
    const [{ event }] = store.log('--id', id, '--kind', 'memory.forgotten', '-l', '1');
    await open(`/undo?event=${event}`);
    await (await twice('undo'))();
    assert.equal(get(id).forgotten, false);
    await open(`/redact?target=${id}`);
    const words = await page.locator('form[action="/act/redact"] strong').innerText();
    await (await twice('redact'))({ words });
    assert.ok(!get(id).content);
  });
  await step('an update that leaves the text alone changes no line end and no hidden character', async () => {
    const text = 'first\r\nsecond \u202ereversed\u202c and a bell\u0007\r\nthird\n';
    const { id } = store.json(['store', '-t', 'strange', '-c', '-'], { input: text });
    const before = get(id).content;
    assert.match(before, /\r\n.*\u202e/, 'the store changed the text');
    await open(`/memories/${id}`);
    await page.locator('summary', { hasText: /^Update$/ }).click();
    const field = page.getByRole('textbox', { name: 'Text' });
    assert.doesNotMatch(await field.inputValue(), /[\u202a-\u202e\u2066-\u2069\u0007]/);
    assert.match(await main(), /characters that cannot be seen/);
    await page.getByLabel('Importance').selectOption('high');
    await page.getByRole('button', { name: 'Update' }).click();
    await page.waitForURL(/\/done\//);
    assert.equal(get(id).importance, 'high');
    assert.equal(get(id).content, before);
    const [{ facts, payload }] = store.log('--id', id, '-l', '1');
    assert.doesNotMatch(JSON.stringify([facts, payload]), /third/, 'the text was written again');
  });
  await step('a value is kept only while it is the one that is shown', async () => {
    const shared = store.store('machines', 'The lamp is white');
    const others = ['green', 'blue'].map((colour) => {
      const other = store.copy(`lamp-${colour}`);
      return () => {
        other.icm(['update', shared.id, '-c', `The lamp is ${colour}`]);
        const bundle = path.join(store.dir, `${colour}.icmb`);
        other.icm(['log', 'export', bundle]);
        store.icm(['log', 'import', bundle]);
      };
    });
    store.icm(['update', shared.id, '-c', 'The lamp is red']);
    others[0]();
    await open(`/memories/${shared.id}`);
    assert.match(await main(), /The lamp is green/);
    const keep = page.getByRole('button', { name: 'Keep the shown value' });
    others[1]();
    assert.equal(get(shared.id).content, 'The lamp is blue');
    await keep.click();
    assert.match(await main(), /nothing was settled/);
    meant();
    assert.equal(store.json(['conflicts']).total, 1);
    await open(`/memories/${shared.id}`);
    await keep.click();
    await page.waitForURL(/\/done\//);
    assert.equal(get(shared.id).content, 'The lamp is blue');
    assert.equal(store.json(['conflicts']).total, 0);
  });
  await step('an undone version names its undo, and the undo its memory', async () => {
    const { id } = store.store('undone', 'The door is shut');
    store.icm(['update', id, '-c', 'The door is open']);
    const [{ event }] = store.log('--id', id, '-l', '1');
    await open(`/undo?event=${event}`);
    await page.getByRole('button', { name: /^Undo \d+ event/ }).click();
    await page.waitForURL(/\/done\//);
    const done = await main();
    assert.match(done, /took back 1 event/);
    assert.doesNotMatch(done, /[0-9a-f]{64}/);
    await page.locator(`main a[href^="/memories/${id}"]`).first().click();
    await page.waitForURL(/\/memories\//);
    const version = page.locator('.versions > li', { hasText: 'memory.updated' });
    assert.equal(await version.getByRole('link', { name: 'Undo…' }).count(), 0);
    await version.getByRole('link', { name: /^undone at @/ }).click();
    await page.waitForURL(/\/log\/\d+/);
    assert.match(await main(), /took back 1 event/);
    await open('/log');
    assert.match(await main(), /took back 1 event/);
  });
  await step('pages that change the present keep an earlier moment, and offer nothing there', async () => {
    const [{ event, subject, position }] = store.log('--kind', 'memory.stored', '-l', '1');
    const at = `at=%40${position - 1}`;
    for (const place of [`/undo?event=${event}&${at}`, `/redact?target=${subject}&${at}`, `/store?${at}`, `/done/${event}?${at}`]) {
      assert.equal(await open(place), 200, place);
      assert.match(await page.getByRole('region', { name: 'Moment' }).innerText(), /As of/, place);
      assert.equal(await page.locator('main form').count(), 0, place);
      assert.match(await page.getByRole('link', { name: 'Memories', exact: true }).getAttribute('href'), new RegExp(at), place);
    }
  });
  await step('unknown addresses and errors are whole pages', async () => {
    for (const [place, status] of [['/nothing/here', 404], ['/memories/none', 404], ['/log?at=yesterdayish', 400], ['/act/store', 404], ['/undo?event=none', 404]]) {
      assert.equal(await open(place), status, place);
      assert.equal(await page.locator('h1').count(), 1, place);
      for (const landmark of ['banner', 'main', 'navigation']) assert.ok(await page.getByRole(landmark).count() >= 1, `${landmark} of ${place}`);
      assert.equal(await page.getByRole('region', { name: 'Moment' }).count(), 1, place);
    }
    const posted = await page.request.post(new URL('/log', page.url()).href, { headers: { origin: new URL(page.url()).origin } });
    assert.match(await posted.text(), /<h1>/);
    assert.match(posted.headers()['content-security-policy'], /default-src 'none'/);
    await open(`/nothing/here?at=%402`);
    assert.match(await page.getByRole('region', { name: 'Moment' }).innerText(), /As of/);
    meant();
  });
  await step('two moments are compared with a day ago, or with the first event', async () => {
    await open('/compare');
    assert.match(await main(), /Added/);
  });
}

/** Streams: a page that is not seen has none, and no number of pages takes all connections. */
export async function streams({ step, page, store, explorer, faults, assert }) {
  const seen = (target, is_seen) => target.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, !is_seen);
  const live = (target) => target.locator('[data-live]');
  await step('a page that is not seen has no stream, and catches up without a repeat', async () => {
    await page.goto(`${explorer.origin}/`);
    await live(page).filter({ hasText: /^live$/ }).waitFor();
    await seen(page, false);
    store.store('live', 'The heron stands in the pond');
    const other = await page.context().newPage();
    await other.goto(`${explorer.origin}/`);
    await live(other).filter({ hasText: /^live$/ }).waitFor();
    store.store('live', 'The stork stands on the roof');
    await other.locator('.feed').getByText('stork').waitFor();
    assert.equal(await page.locator('.feed').getByText(/heron|stork/).count(), 0);
    await seen(page, true);
    await page.locator('.feed').getByText('stork').waitFor();
    store.store('live', 'The owl sleeps');
    await page.locator('.feed').getByText('owl').waitFor();
    for (const bird of ['heron', 'stork', 'owl']) assert.equal(await page.locator('.feed').getByText(bird).count(), 1, bird);
    await other.close();
  });
  await step('eight open pages of the feed leave room for others', async () => {
    const tabs = [];
    for (let at = 0; at < 8; at += 1) {
      const tab = await page.context().newPage();
      await tab.goto(`${explorer.origin}/`, { timeout: 10_000 });
      tabs.push(tab);
      await live(tab).filter({ hasText: /live/ }).waitFor();
    }
    const said = await Promise.all(tabs.map((tab) => live(tab).innerText()));
    assert.ok(said.some((text) => /reload/.test(text)), said.join());
    assert.ok(said.filter((text) => text === 'live').length >= 3, said.join());
    const answer = await page.goto(`${explorer.origin}/memories`, { timeout: 10_000 });
    assert.equal(answer.status(), 200);
    for (const tab of tabs) await tab.close();
    // The closed pages leave their places.
    await page.goto(`${explorer.origin}/`);
    await live(page).filter({ hasText: /^live$/ }).waitFor({ timeout: 20_000 });
  });
  faults.length = 0;
}

/** The ways to the first page: another path, a moment, a browser that a terminal opens. */
export async function opening({ step, store, there, faults, assert }) {
  const visit = async (explorer, address) => {
    const page = await there.visit(explorer);
    await page.goto(address);
    await page.waitForURL((url) => url.origin === explorer.origin && !url.search.includes('key='));
    return page;
  };
  await step('the address keeps path and moment, and leads nowhere else', async () => {
    const first = await explore(store);
    const page = await visit(first, first.address.replace('/?', '/log?at=%402&'));
    assert.equal(page.url(), `${first.origin}/log?at=%402`);
    assert.match(await page.locator('h1').innerText(), /Log/);
    await page.context().close();
    await first.stop();
    const second = await explore(store);
    const answer = await new Promise((answered, failed) => {
      const { port, search } = new URL(second.address);
      http.get({ host: '127.0.0.1', port, path: `//example.org/${search}` }, (response) => {
        let text = '';
        response.on('data', (bytes) => { text += bytes; });
        response.on('end', () => answered({ text, headers: response.headers }));
      }).on('error', failed);
    });
    assert.ok(!answer.headers.location, answer.headers.location);
    assert.match(answer.text, /url=\/example\.org\//);
    await second.stop();
  });
  await step('a terminal opens the browser without the key among the arguments', async () => {
    const folder = path.join(store.dir, 'opener');
    mkdirSync(folder, { recursive: true });
    const told = path.join(folder, 'told');
    writeFileSync(path.join(folder, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" >'${told}.new' && mv '${told}.new' '${told}'\n`);
    chmodSync(path.join(folder, 'xdg-open'), 0o755);
    const env = store.env({ PATH: `${folder}:${process.env.PATH}`, TERM: 'xterm', TMPDIR: folder });
    const command = `exec '${process.env.ICM}' --config /dev/null explore`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], { env, cwd: store.dir, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.on('data', (bytes) => { said += bytes; });
    const until = async (what, look) => {
      for (let times = 0; times < 200; times += 1) {
        if (look()) return;
        await new Promise((rested) => { setTimeout(rested, 50); });
      }
      throw new Error(`${what}: ${said}`);
    };
    await until('nothing was opened', () => existsSync(told));
    const file = readFileSync(told, 'utf8');
    assert.doesNotMatch(file, /key=/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const [address] = /http:\/\/127\.0\.0\.1:\d+\/\?key=[0-9a-f]{64}/.exec(said);
    const page = await visit({ origin: new URL(address).origin }, `file://${file}`);
    assert.match(await page.locator('h1').innerText(), /Now/);
    // The file itself is of no server.
    faults.splice(0, faults.length, ...faults.filter((fault) => !fault.startsWith('a request to file:')));
    await page.context().close();
    execFileSync('kill', ['-TERM', String(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0])]);
    await new Promise((ended) => { child.once('exit', ended); });
    assert.ok(!existsSync(file), 'the file is still there');
  });
  faults.length = 0;
}
