"""A client of an MCP server over stdio: initialize, then tools/call."""

import json
import subprocess


class Mcp:
    def __init__(self, command: list[str], environment: dict[str, str] | None = None):
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=environment, **streams)
        self.asked = 0
        client = {"name": "peers", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._write({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments) -> dict:
        """Returns the result of a tool. Raises if the server or the tool says that it failed."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {json.dumps(result)[:500]}")
        return result

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(30)

    def _ask(self, method: str, params: dict) -> dict:
        self.asked += 1
        self._write({"id": self.asked, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.asked and "method" not in answer:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"{method}: the server ended; run {self.process.args} by hand to see why")

    def _write(self, message: dict) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()
