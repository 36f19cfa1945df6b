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
    return answer?.hookSpecificOutput?.additionalContext ?? answer?.additionalContext ?? "";
  } catch {
    return out.trim();
  }
}

export const Icm = async ({ directory }) => {
  const started = new Map();
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.created") {
        const parent = event.properties?.info?.parentID;
        started.set(session, hook(event.type, { session_id: session, parent_id: parent, cwd: directory, source: "startup" }));
      } else if (event.type === "session.idle") {
        await hook(event.type, { session_id: session, cwd: directory });
      }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID;
      const prompt = output.parts.filter((part) => part.type === "text").map((part) => part.text).join("\n");
      const texts = [await (started.get(session) ?? ""), await hook("chat.message", { session_id: session, cwd: directory, prompt })];
      started.delete(session);
      const text = texts.filter(Boolean).join("\n");
      if (text) {
        const id = `prt_icm${Date.now().toString(36)}`;
        output.parts.push({ id, sessionID: session, messageID: output.message?.id, type: "text", text, synthetic: true });
      }
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await hook("experimental.session.compacting", { session_id: input.sessionID, cwd: directory });
      if (text) output.context?.push(text);
    },
  };
};
