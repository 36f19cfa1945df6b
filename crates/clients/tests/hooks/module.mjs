// Plays sessions of OpenCode against the plugin file that `icm init` writes: `node module.mjs FILE`.
// Prints the texts that each session's model gets, as JSON.
import { pathToFileURL } from "node:url";

const { Icm } = await import(pathToFileURL(process.argv[2]));
const icm = await Icm({ directory: "/src" });
const tell = (type, properties) => icm.event({ event: { type, properties } });
const shown = {};

async function prompt(sessionID, text) {
  const output = { message: { id: "m" }, parts: [{ type: "text", text }] };
  await icm["chat.message"]({ sessionID }, output);
  shown[sessionID] = output.parts.slice(1).map((part) => part.text);
}

await tell("session.created", { info: { id: "main" } });
await prompt("main", "where?");
await tell("session.created", { info: { id: "child", parentID: "main" } });
await prompt("child", "look");
await tell("message.updated", { info: { id: "m1", sessionID: "child", role: "assistant", parentID: "m" } });
await icm["experimental.session.compacting"]({ sessionID: "child" }, { context: [] });
await tell("session.compacted", { sessionID: "child" });
await prompt("child", "more");
await tell("session.idle", { sessionID: "child" });
await tell("session.deleted", { info: { id: "child", parentID: "main" } });
await tell("session.idle", { sessionID: "main" });
// A sub-agent of an earlier run of the client has no start.
await tell("session.updated", { info: { id: "old", parentID: "main" } });
await tell("session.idle", { sessionID: "old" });
console.log(JSON.stringify(shown));
