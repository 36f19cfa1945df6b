// The checks of the explorer that take longer: every action, hostile texts, foreign requests, looks.
import http from 'node:http';
import { readFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { HOSTILE, Store, explore } from './world.mjs';

/** Every action, each followed by what the command line says of it. */
export async function actions({ step, open, main, page, store, faults, assert }) {
  const done = () => page.waitForURL(/\/done\//);
  const get = (id) => store.json(['get', id]);
  let id;
  await step('store', async () => {
    await open('/store');
    await page.getByLabel('Text').fill('The lighthouse is painted red\nand white');
    await page.getByLabel('Topic').fill('harbour');
    await page.getByLabel('Tags').fill('paint, colour');
    await page.getByRole('main').getByRole('button', { name: 'Store' }).click();
    await done();
    const [found] = store.json(['list', '-t', 'harbour']).memories ?? store.json(['list', '-t', 'harbour']);
    id = found.id;
    assert.equal(found.content, 'The lighthouse is painted red\nand white');
    assert.deepEqual(found.keywords, ['paint', 'colour']);
    const [event] = store.log('--id', id, '-l', '1');
    assert.equal(event.actor, 'user');
  });
  await step('update', async () => {
    await open(`/memories/${id}`);
    await page.locator('summary', { hasText: /^Update$/ }).click();
    await page.getByRole('textbox', { name: 'Text' }).fill('The lighthouse is painted blue');
    await page.getByRole('button', { name: 'Update' }).click();
    await done();
    assert.equal(get(id).content, 'The lighthouse is painted blue');
    assert.deepEqual(get(id).keywords, ['paint', 'colour']);
  });
  await step('an update from an old page takes back nothing', async () => {
    await open(`/memories/${id}`);
    store.icm(['update', id, '-c', 'The lighthouse is painted green']);
    await page.locator('summary', { hasText: /^Update$/ }).click();
    await page.getByLabel('Importance').selectOption('high');
    await page.getByRole('button', { name: 'Update' }).click();
    assert.match(await main(), /nothing was updated/);
    // The browser logs the refusal; it was meant.
    faults.pop();
    assert.equal(get(id).content, 'The lighthouse is painted green');
    assert.equal(get(id).importance, 'medium');
  });
  await step('pin and unpin', async () => {
    await open(`/memories/${id}`);
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await done();
    assert.ok(get(id).pinned_until);
    await open(`/memories/${id}`);
    await page.getByRole('button', { name: 'Unpin' }).click();
    await done();
    assert.ok(!get(id).pinned_until);
  });
  await step('forget and revive', async () => {
    await open(`/memories/${id}`);
    await page.getByRole('button', { name: 'Forget' }).click();
    await done();
    assert.equal(get(id).forgotten, true);
    await open(`/memories/${id}`);
    await page.getByRole('button', { name: 'Revive' }).click();
    await done();
    assert.equal(get(id).forgotten, false);
  });
  await step('link', async () => {
    const other = store.store('harbour', 'The keeper lives in the tower');
    await open(`/memories/${id}`);
    await page.getByText('Link to another memory').click();
    await page.getByLabel('the memory with the id').fill(other.id);
    await page.getByRole('button', { name: 'Link', exact: true }).click();
    await done();
    assert.equal(get(id).related[0].id, other.id);
  });
  await step('undo of an undo, from the page of what was done', async () => {
    await open(`/memories/${id}`);
    await page.getByRole('button', { name: 'Forget' }).click();
    await done();
    await page.getByRole('link', { name: /Undo/ }).click();
    await page.getByRole('button', { name: /^Undo \d+ event/ }).click();
    await done();
    assert.equal(get(id).forgotten, false);
  });
  await step('a form that is posted twice stores once', async () => {
    await open('/store');
    await page.getByLabel('Text').fill('Posted twice');
    await page.getByLabel('Topic').fill('twice');
    const form = await page.locator('form[action="/act/store"]').evaluate((form) => Object.fromEntries(new FormData(form)));
    const origin = new URL(page.url()).origin;
    for (let times = 0; times < 2; times += 1) {
      const answer = await page.request.post(`${origin}/act/store`, { form, headers: { origin }, maxRedirects: 0 });
      assert.equal(answer.status(), 303);
    }
    const listed = store.json(['list', '-t', 'twice']);
    assert.equal((listed.memories ?? listed).length, 1);
  });
  await step('settle a conflict of two machines', async () => {
    const shared = store.store('machines', 'The port is 8000');
    const other = store.copy('other');
    // A copy is a new machine once it writes.
    store.icm(['update', shared.id, '-c', 'The port is 8001']);
    other.icm(['update', shared.id, '-c', 'The port is 8002']);
    const bundle = path.join(store.dir, 'other.icmb');
    other.icm(['log', 'export', bundle]);
    store.icm(['log', 'import', bundle]);
    await open('/machines');
    assert.match(await main(), /8001/);
    assert.match(await main(), /8002/);
    const before = get(shared.id).content;
    await page.getByRole('button', { name: 'Take the other value' }).first().click();
    await done();
    assert.notEqual(get(shared.id).content, before);
    const left = store.json(['conflicts']);
    assert.equal(left.total, 0);
  });
  await step('redact only with the words typed again', async () => {
    const secret = store.store('ops', 'The door code is 4711');
    await open(`/memories/${secret.id}`);
    await page.getByRole('link', { name: 'Redact…' }).click();
    const words = await page.locator('form[action="/act/redact"] strong').innerText();
    await page.getByLabel(/^Type/).fill('something else');
    await page.getByRole('button', { name: 'Redact for good' }).click();
    assert.match(await main(), /nothing was redacted/);
    assert.match(get(secret.id).content, /4711/);
    // The browser logs the refusal; it was meant.
    faults.pop();
    await page.goBack();
    await page.getByLabel(/^Type/).fill(words);
    await page.getByRole('button', { name: 'Redact for good' }).click();
    await done();
    assert.ok(!get(secret.id).content);
    for (const at of ['/memories', '/log', `/memories/${secret.id}`]) {
      await open(at);
      assert.doesNotMatch(await page.content(), /4711/, at);
    }
  });
}

/** Keys, and a width of a phone. */
export async function keyboard({ step, open, page, store, assert, PAGES }) {
  await step('keys: / searches, j and Enter open, [ steps back, ? helps', async () => {
    await open('/memories');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'find');
    await page.keyboard.type('invoices');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=invoices/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/memories\/0/);
    await page.keyboard.press('[');
    await page.waitForURL(/at=/);
    await page.keyboard.press('?');
    assert.ok(await page.locator('#keys').isVisible());
  });
  await step('a phone shows each page without scrolling sideways', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const [fact] = store.json(['list', '-t', 'facts/deploy']).memories ?? store.json(['list', '-t', 'facts/deploy']);
    for (const at of [...PAGES, `/memories/${fact.id}`]) {
      await open(at);
      const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= window + 1, `${at} is ${wide} wide`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });
  await step('each page can be read without script', async () => {
    const context = await page.context().browser().newContext({ javaScriptEnabled: false });
    await context.addCookies(await page.context().cookies());
    const plain = await context.newPage();
    for (const at of PAGES) {
      await plain.goto(new URL(at, page.url()).href);
      assert.equal(await plain.locator('h1').count(), 1, at);
      assert.ok((await plain.locator('main').innerText()).length > 40, at);
    }
    await plain.goto(new URL('/memories', page.url()).href);
    await plain.getByLabel('Date and time').fill('2001-01-01T00:00:00');
    await plain.getByRole('button', { name: 'Go' }).click();
    assert.ok((await plain.locator('h1').count()) === 1);
    await context.close();
  });
}

/** Accessibility by axe-core, and a screenshot of each page: light, dark, phone. */
export async function looks({ step, open, page, store, rows, shots, PAGES, assert }) {
  const axe = readFileSync(process.env.AXE, 'utf8');
  const [{ event }] = store.log('-l', '1');
  const places = [...PAGES, `/memories/${rows.database.id}`, '/memories?q=invoices', `/log/${event}`, '/graph/shop', '/graph/shop/cart', '/store', '/compare?with=@4'];
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    await step(`axe-core finds no serious fault (${scheme})`, async () => {
      const found = [];
      for (const at of places) {
        assert.equal(await open(at), 200, at);
        // The policy of the pages forbids a script of a test; the protocol of the browser does not ask it.
        const client = await page.context().newCDPSession(page);
        await client.send('Runtime.evaluate', { expression: axe });
        const { result } = await client.send('Runtime.evaluate', {
          expression: 'axe.run().then((found) => JSON.stringify(found.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`)))',
          awaitPromise: true,
        });
        await client.detach();
        for (const fault of JSON.parse(result.value)) found.push(`${at}: ${fault}`);
      }
      assert.equal(found.length, 0, found.join('\n'));
    });
    await step(`screenshots (${scheme})`, async () => {
      mkdirSync(shots, { recursive: true });
      const name = (at) => at.replace(/^\//, '').replace(/[0-9A-Z]{26}|[0-9a-f]{64}/, 'one').replace(/[^a-z0-9]+/gi, '-') || 'now';
      for (const at of places) {
        await open(at);
        await page.waitForTimeout(at.startsWith('/graph/') ? 700 : 50);
        await page.screenshot({ path: path.join(shots, `${name(at)}-${scheme}.png`), fullPage: true });
        if (scheme === 'light') {
          await page.setViewportSize({ width: 390, height: 844 });
          await page.screenshot({ path: path.join(shots, `${name(at)}-phone.png`), fullPage: true });
          await page.setViewportSize({ width: 1280, height: 900 });
        }
      }
    });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Hostile texts in every field, on every page. */
export async function hostile({ step, there, faults, PAGES, assert }) {
  const store = new Store('hostile');
  const ids = [];
  // A field may refuse a text, but most take most of them.
  let taken = 0;
  const quiet = (work) => { try { const done = work(); taken += 1; return done; } catch { return undefined; } };
  HOSTILE.forEach((text, at) => {
    const short = text.replace(/[\u0000-\u001f]/g, ' ').slice(0, 60);
    const stored = quiet(() => store.json(['store', '-t', short, '-k', short.replaceAll(',', ' '), '-c', '-', '--raw', short], {
      input: text.replaceAll('\u0000', ''), env: { ICM_ACTOR: `agent:${short}`, ICM_SESSION: short },
    })) ?? store.store(`topic ${at}`, text.replaceAll('\u0000', ''));
    ids.push(stored.id);
    quiet(() => store.icm(['fact', 'set', short, 'attribute', short]));
    quiet(() => store.icm(['alert', 'set', '--session', 's1', short]));
    quiet(() => store.icm(['memoir', 'create', '-n', `m${at}`, '-d', text.replaceAll('\u0000', '')]));
    quiet(() => store.icm(['memoir', 'add-concept', '-m', `m${at}`, '-n', short, '-d', short, '-L', `a:${short.replace(/[:,]/g, ' ')}`]));
    quiet(() => store.icm(['memoir', 'add-concept', '-m', `m${at}`, '-n', 'plain', '-d', short]));
    quiet(() => store.icm(['memoir', 'link', '-m', `m${at}`, '--from', short, '--to', 'plain', '-r', 'related_to']));
    quiet(() => store.icm(['feedback', 'record', '--predicted', short, '--correct', short, '--context', short]));
  });
  ids.push(store.json(['store', '-t', 'long', '-c', '-'], { input: '<b>'.repeat(21_000) }).id);
  const events = store.log().map((entry) => entry.event);
  await step(`hostile texts are in the store (${taken} fields of ${8 * HOSTILE.length})`, async () => { assert.ok(taken >= 6 * HOSTILE.length, `only ${taken} were taken`); });
  const explorer = await explore(store);
  const page = await there.visit(explorer);
  await page.goto(explorer.address);
  await page.waitForURL(`${explorer.origin}/`);
  const places = [
    ...PAGES, ...ids.map((id) => `/memories/${id}`), ...events.slice(0, 40).map((event) => `/log/${event}`),
    ...HOSTILE.map((text) => `/memories?q=${encodeURIComponent(text)}`), ...HOSTILE.map((text) => `/log?actor=${encodeURIComponent(text)}`),
    ...HOSTILE.map((text) => `/sessions/${encodeURIComponent(text)}`), ...HOSTILE.map((text) => `/?at=${encodeURIComponent(text)}`),
    ...HOSTILE.flatMap((_, at) => [`/graph/m${at}`, `/graph/m${at}/plain`]), `/graph/${encodeURIComponent(HOSTILE[0])}`,
    `/undo?event=${encodeURIComponent(HOSTILE[1])}`, `/redact?target=${encodeURIComponent(HOSTILE[1])}`,
  ];
  await step(`hostile texts are text on ${places.length} pages`, async () => {
    for (const at of places) {
      const answer = await page.goto(new URL(at, explorer.origin).href);
      assert.ok(answer.status() < 500, `${at}: ${answer.status()}`);
      // An address that means nothing is refused, and the browser logs that.
      if (answer.status() >= 400) faults.splice(0, faults.length, ...faults.filter((fault) => !fault.startsWith('console: Failed to load resource')));
      assert.doesNotMatch(await page.title(), /^owned/, at);
      const strange = await page.evaluate(() => [
        ...document.querySelectorAll('iframe, object, embed, base, script:not([src]), [style], style'),
        ...[...document.querySelectorAll('*')].filter((node) => [...node.attributes].some((a) => /^on/i.test(a.name)
          || (['href', 'src', 'action', 'formaction', 'xlink:href', 'data'].includes(a.name) && /^\s*javascript:/i.test(a.value)))),
      ].filter((node) => !node.closest('.graph-canvas')).map((node) => node.outerHTML.slice(0, 200)));
      assert.deepEqual(strange, [], at);
      const bad = await page.evaluate(() => {
        const fields = [...document.querySelectorAll('textarea, select, input:not([type=hidden])')].map((field) => field.value);
        return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e\u2066-\u2069]/.exec([document.body.innerText, ...fields].join(' '))?.[0];
      });
      assert.equal(bad, undefined, `${at} shows a control character`);
    }
    await page.goto(new URL(`/memories/${ids[0]}`, explorer.origin).href);
    assert.match(await page.locator('main').innerText(), /<script>document\.title="owned"<\/script>/);
  });
  await page.context().close();
  await explorer.stop();
  faults.length = 0;
}

/** Requests that are not of this browser's own pages. */
export async function foreign({ step, page, explorer, faults, assert }) {
  const port = new URL(explorer.origin).port;
  const [cookie] = await page.context().cookies();
  const known = `${cookie.name}=${cookie.value}`;
  const ask = (method, at, headers = {}, body = '') => new Promise((answered, failed) => {
    const request = http.request({ host: '127.0.0.1', port, method, path: at, headers }, (response) => {
      let text = '';
      response.on('data', (bytes) => { text += bytes; });
      response.on('end', () => answered({ status: response.statusCode, text, headers: response.headers }));
    });
    request.on('error', failed);
    request.end(body);
  });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const own = { host: `127.0.0.1:${port}`, cookie: known };
  await step('the cookie is strict, and hidden from scripts', async () => {
    assert.equal(cookie.sameSite, 'Strict');
    assert.equal(cookie.httpOnly, true);
    assert.equal((await ask('GET', '/memories', own)).status, 200);
  });
  await step('no cookie, an old one, a spent key get nothing', async () => {
    const key = new URL(explorer.address).search;
    for (const [at, headers] of [['/memories', {}], [`/${key}`, {}], ['/memories', { cookie: `${cookie.name}=${'0'.repeat(64)}` }], ['/now/feed', {}], ['/assets/explorer.js', {}], ['/metrics', {}]]) {
      const answer = await ask('GET', at, headers);
      assert.equal(answer.status, 401, at);
      assert.doesNotMatch(answer.text, /Invoices/);
    }
  });
  await step('another origin, another port, a rebinding host get nothing', async () => {
    for (const headers of [{ origin: 'http://example.org' }, { origin: 'null' }, { origin: `http://127.0.0.1:${Number(port) + 1}` }, { origin: `http://localhost:${port}` }, { host: `evil.example:${port}` }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      const answer = await ask('GET', '/memories', { ...own, ...headers });
      assert.equal(answer.status, 403, JSON.stringify(headers));
      assert.doesNotMatch(answer.text, /Invoices/);
    }
  });
  await step('a forged form changes nothing', async () => {
    const posted = (body, headers = {}) => ask('POST', '/act/store', { ...own, ...form, origin: explorer.origin, ...headers }, body);
    assert.equal((await posted('topic=x&content=forged')).status, 403);
    assert.equal((await posted(`topic=x&content=forged&form_token=${'0'.repeat(64)}`)).status, 403);
    const token = await page.goto(`${explorer.origin}/store`).then(() => page.locator('[name=form_token]').first().inputValue());
    assert.equal((await posted(`topic=x&content=forged&form_token=${token}`, { origin: 'http://example.org' })).status, 403);
    const other = await ask('POST', '/act/forget', { ...own, ...form, origin: explorer.origin }, `id=x&form_token=${token}`);
    assert.equal(other.status, 403, 'a token of another action');
    await page.goto(`${explorer.origin}/memories`);
    assert.doesNotMatch(await page.content(), /forged/);
  });
  await step('each answer bounds what a browser does with it', async () => {
    for (const at of ['/', '/memories', '/assets/explorer.css', '/memories/none']) {
      const { headers } = await ask('GET', at, own);
      assert.match(headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/s, at);
      assert.doesNotMatch(headers['content-security-policy'], /unsafe/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
  });
  faults.length = 0;
}
