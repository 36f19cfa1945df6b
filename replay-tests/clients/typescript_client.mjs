// The TypeScript client: `typescript_client.mjs MODULES MODE (stdio ICM STORE | http URL)`, where MODULES is the
// folder that `@modelcontextprotocol/client` is installed in. Exit code 1 at the first difference.

import { createRequire } from 'node:module';
import assert from 'node:assert/strict';

const [modules, mode, over, ...where] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const eras = { legacy: 'legacy', auto: 'auto', '2026-07-28': { pin: '2026-07-28' } };
const late = setTimeout(() => {
    console.error('failed: no answer in time');
    process.exit(1);
}, 60_000);

function transport() {
    if (over === 'stdio') {
        const [command, store] = where;
        const args = ['--db', store, 'serve', '--toolsets', 'all', '--structured'];
        return new StdioClientTransport({ command, args, stderr: 'ignore' });
    }
    const headers = { Authorization: `Bearer ${process.env.ICM_TOKEN}` };
    return new StreamableHTTPClientTransport(new URL(where[0]), { requestInit: { headers } });
}

const client = new Client({ name: 'typescript', version: '1' }, { versionNegotiation: { mode: eras[mode] } });
await client.connect(transport());
assert.equal(client.getProtocolEra(), mode === 'legacy' ? 'legacy' : 'modern');

const { tools } = await client.listTools();
assert(tools.some((tool) => tool.name === 'icm_memory_recall'));
const content = 'the pool holds 20 connections';
const stored = await client.callTool({ name: 'icm_memory_store', arguments: { topic: 'db', content } });
const { id } = stored.structuredContent;
assert.match(id, /^[0-9A-Z]{26}$/);
const found = await client.callTool({ name: 'icm_memory_recall', arguments: { query: 'pool' } });
assert.deepEqual(found.structuredContent.results.map((hit) => hit.content), [content]);
const read = await client.readResource({ uri: `icm://memory/${id}` });
assert.match(read.contents[0].text, /20 connections/);
const prompt = await client.getPrompt({ name: 'recap', arguments: { topic: 'db' } });
assert.match(JSON.stringify(prompt.messages), /20 connections/);
const ref = { type: 'ref/prompt', name: 'recap' };
const completed = await client.complete({ ref, argument: { name: 'topic', value: 'd' } });
assert.deepEqual(completed.completion.values, ['db']);
const refused = await client.callTool({ name: 'icm_memory_store', arguments: { topic: 'db' } });
assert.equal(refused.isError, true);
assert.match(refused.content[0].text, /`content`/);
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /no_such_tool/);
// Half of a surrogate pair, which JSON.stringify writes as an escape.
const half = { name: 'icm_memory_store', arguments: { topic: 'db', content: 'cut \ud83d' } };
const answer = await client.callTool(half);
assert.match(answer.content[0].text, /surrogate/);
const after = await client.callTool({ name: 'icm_memory_stats', arguments: {} });
assert.equal(after.structuredContent.memories, 1);

const version = client.getNegotiatedProtocolVersion();
console.log(`TypeScript client, ${version} over ${over}: ${tools.length} tools`);
await client.close();
clearTimeout(late);
