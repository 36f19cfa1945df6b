// Written by `icm init`; `icm uninstall` takes it out.
import { spawn } from "node:child_process";

const COMMAND = %COMMAND%;
const MORE = %MORE%;
const CLIENT = %CLIENT%;

// Answers with the context to add, or an empty text: a hook that fails must not stop the session.
function hook(event, input) {
  return new Promise((resolve) => {
    let out = "";
    try {
      const child = spawn(COMMAND, ["hook", CLIENT, event, ...MORE], { stdio: ["pipe", "pipe", "ignore"], timeout: 10000 });
      child.on("error", () => resolve(""));
      child.on("close", () => resolve(context(out)));
      // A piece of the output may end within a character.
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (data) => (out += data));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...input }));
    } catch {
      resolve("");
    }
  });
}

function context(out) {
  try {
    const answer = JSON.parse(out);
    const text = answer?.hookSpecificOutput?.additionalContext ?? answer?.additionalContext;
    return typeof text === "string" ? text : "";
  } catch {
    // A hook that was killed leaves a part of its answer.
    return "";
  }
}

export const Icm = async ({ directory }) => {
  // By session: its parent, the answer to its start, the newest message of the assistant, and that message's text.
  const parents = new Map();
  const started = new Map();
  const messages = new Map();
  const texts = new Map();
  // Only some events of OpenCode name the parent, and a sub-agent is one session in every event.
  const run = (event, session, more) =>
    hook(event, { session_id: session, parent_id: parents.get(session), cwd: directory, ...more });
  return {
    event: async ({ event }) => {
      const of = event.properties ?? {};
      const session = of.sessionID ?? of.info?.sessionID ?? of.info?.id ?? of.part?.sessionID;
      // The parent of a message is another message.
      if (event.type.startsWith("session.") && of.info?.parentID) parents.set(session, of.info.parentID);
      switch (event.type) {
        case "session.created":
          started.set(session, run(event.type, session, { source: "startup" }));
          break;
        case "session.compacted":
          started.set(session, run(event.type, session));
          break;
        case "message.updated":
          if (of.info?.role === "assistant") messages.set(session, of.info.id);
          break;
        case "message.part.updated":
          if (of.part?.type === "text" && of.part.messageID === messages.get(session)) texts.set(session, of.part.text);
          break;
        case "session.idle":
          await run(event.type, session, { last_assistant_message: texts.get(session) });
          break;
        case "session.deleted":
          await run(event.type, session);
          for (const map of [parents, started, messages, texts]) map.delete(session);
          break;
      }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID;
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n");
      const found = [await (started.get(session) ?? ""), await run("chat.message", session, { prompt })];
      started.delete(session);
      const text = found.filter(Boolean).join("\n");
      if (text) {
        const id = `prt_icm${Date.now().toString(36)}`;
        output.parts.push({ id, sessionID: session, messageID: output.message?.id, type: "text", text, synthetic: true });
      }
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await run("experimental.session.compacting", input.sessionID);
      if (text) output.context?.push(text);
    },
  };
};
