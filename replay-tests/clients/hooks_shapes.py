"""Validates samples of hooks and icm's answers by a client's own schema.

    hooks_shapes.py KEY TITLE PACKAGE TSC ICM WORK ROWS

KEY is a name in `SHAPES`, TITLE the client's name in messages. PACKAGE is the folder that has the schema or the types,
TSC the TypeScript compiler (empty for a JSON schema), WORK an empty folder, ROWS a file that gets a line.

The samples are those of crates/clients/tests/samples. Each one goes to `icm hook` twice: with a store that has
something to tell, and with an empty one. Each sample has to be an input of the schema, and each answer an output.
The same input and answer with an extra key must be refused: a schema that accepts everything checks nothing.
Exit code 1 if one fails.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hooks_place import FITS, ROOT, START, Failed, can, expect

EXTRA = "a_key_of_no_schema"


@dataclass
class Value:
    """A JSON value and the place of the schema that it has to fit; `wrong` if the schema must refuse it."""

    of: str
    event: str
    is_input: bool
    value: object
    wrong: bool = False

    def part(self):
        return f"{'input' if self.is_input else 'output'} of {self.event}"


@dataclass
class Types:
    """Public TypeScript types of a client's hooks."""

    samples: str
    # A module below the package, without its ending.
    module: str
    # Types of the input and the output of `EVENT`; there is none of those in `without`.
    input: str
    output: str
    # How many samples are answered with a context.
    tells: int
    without: tuple = ()
    # Samples of another format than that of the types.
    skips: str = ""
    wire: str = ""

    def check(self, package, tsc, work, values):
        """Checks values by the compiler."""
        package = package_of(self, package, work)
        (work / "tsconfig.json").write_text(json.dumps({"compilerOptions": {
            "strict": True, "noEmit": True, "skipLibCheck": True, "target": "es2022", "module": "esnext",
            "moduleResolution": "bundler", "types": []}, "files": ["values.ts"]}))
        lines = [f'import type * as t from {json.dumps(str(package / self.module))};', PLAIN, self.wire]
        # An unknown name would be `any`, which takes everything: each wrong value proves the type that it has.
        for nth, it in enumerate(values):
            kind = (self.input if it.is_input else self.output).replace("EVENT", capital(it.event))
            lines += ["// @ts-expect-error"] if it.wrong else []
            lines.append(f"export const value{nth}: {kind} = {json.dumps(it.value)};")
        written = "\n".join(lines).split("\n")
        (work / "values.ts").write_text("\n".join(lines) + "\n")
        ran = subprocess.run([tsc, "-p", str(work), "--pretty", "false"], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            found = re.search(r"values\.ts\((\d+),\d+\): (.*)", ran.stdout)
            # An expectation that is not met is told at the line before its value.
            line = next((it for it in written[int(found[1]) - 1:] if "const value" in it), "") if found else ""
            nth = re.search(r"const value(\d+)", line)
            of = values[int(nth[1])].of if nth else "the types"
            raise Failed(f"{of}: {found[2] if found else ran.stdout[:500]}: {line[:500]}")


@dataclass
class Schemas:
    """JSON schemas that a client's program carries, by their titles: `session-start.command.output`."""

    samples: str
    tells: int
    # For each event there is one.
    without = ()
    skips = ""

    def check(self, package, _tsc, _work, values):
        """Checks values by a validator."""
        import jsonschema

        schemas = carried(package)
        for it in values:
            title = f"{dashed(it.event)}.command.{'input' if it.is_input else 'output'}"
            expect(title in schemas, f"{it.of}: the program has no schema `{title}`")
            validator = jsonschema.Draft7Validator(schemas[title])
            validator.check_schema(schemas[title])
            fault = next(validator.iter_errors(it.value), None)
            expect(it.wrong or not fault, f"{it.of}: {fault and fault.message}: {json.dumps(it.value)[:500]}")
            expect(not it.wrong or fault, f"{it.of}: an extra key was accepted: {json.dumps(it.value)[:500]}")


# Types as JSON has them: enums and dates are texts.
PLAIN = """
type Plain<T> = T extends string ? `${T}` : T extends Date ? string : T extends unknown[] ? T
    : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
"""

SHAPES = {
    "claude": Types("claude-code", "sdk", "t.HookInput", "t.SyncHookJSONOutput", 3),
    "codex": Schemas("codex", 3),
    "gemini": Types("gemini-cli", "dist/src/hooks/types", "Plain<t.EVENTInput>", "Plain<t.EVENTOutput>", 2,
                    without=("output of SessionEnd",)),
    # The package hands a callback the same values with two keys renamed and a date; a command gets what `Wire` says.
    "copilot": Types("copilot-cli", "copilot-sdk/types", "Wire<t.EVENTHookInput>", "t.EVENTHookOutput", 2,
                     without=("input of preCompact",), skips="plugin-", wire="""
type Wire<T> = Omit<T, "workingDirectory" | "timestamp" | "stopHookActive">
    & { cwd: string, timestamp: number, stop_hook_active?: boolean };
"""),
    "qoder": Types("qoder", "dist/protocol/index", "t.HookInput", "t.SyncHookJSONOutput", 3),
    # Its validator lets unknown keys pass; those that it knows are the type.
    "cline": Types("cline", "@cline/core/dist/hooks/subprocess", "Plain<t.HookEventPayload>", "Known", 1, wire="""
type Loose = (typeof t.HookOutputSchema)["_output"];
type Known = { [K in keyof Loose as string extends K ? never : K]: Loose[K] };
"""),
}


def capital(event):
    return event[0].upper() + event[1:]


def dashed(event):
    """Returns `session-start` of `SessionStart`."""
    return re.sub(r"(?<!^)([A-Z])", r"-\1", event).lower()


def package_of(shape, package, work):
    """Returns the folder with the types: Copilot CLI unpacks them when it runs."""
    if shape.samples != "copilot-cli":
        return Path(package)
    env = dict(os.environ, HOME=str(work), COPILOT_OFFLINE="true")
    subprocess.run([f"{package}/.bin/copilot", "--help"], env=env, capture_output=True, check=True)
    found = list(work.glob(".cache/copilot/pkg/*/*/copilot-sdk"))
    expect(len(found) == 1, f"Copilot CLI unpacked its types {len(found)} times")
    return found[0].parent


def carried(modules):
    """Returns the JSON schemas in Codex's program, by title."""
    programs = [path for path in Path(modules).glob("@openai/*/vendor/*/bin/codex") if path.is_file()]
    expect(len(programs) == 1, f"{len(programs)} programs of Codex")
    data = programs[0].read_bytes()
    found = {}
    for start in re.finditer(rb'\{\s*"\$schema": "http://json-schema.org/draft-07/schema#"', data):
        # A schema has some KiB; what stands behind it need not be a text.
        text = data[start.start():start.start() + (1 << 16)].decode(errors="replace")
        try:
            schema, _ = json.JSONDecoder().raw_decode(text)
        except ValueError:
            continue
        if isinstance(schema, dict) and ".command." in schema.get("title", ""):
            found[schema["title"]] = schema
    return found


def answers(icm, work, samples, told):
    """Returns what `icm hook` says to each sample, with a store that has something to tell or an empty one."""
    found = {}
    for sample in samples:
        home = work / f"home-{'told' if told else 'empty'}-{sample.stem}"
        home.mkdir()
        # Not the variables of a client that this runs in.
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        for importance, text in [("critical", START), ("medium", FITS)] if told else []:
            command = [icm, "store", "-t", "billing", "-i", importance, "-c", text]
            subprocess.run(command, env=env, cwd=home, capture_output=True, check=True)
        command = [icm, "hook", sample.parent.name, sample.stem]
        ran = subprocess.run(command, env=env, cwd=home, input=sample.read_bytes(), capture_output=True, check=False)
        expect(ran.returncode == 0, f"{sample.stem}: exit code {ran.returncode}: {ran.stderr.decode()[:500]}")
        found[sample] = ran.stdout
    return found


def with_extra(value):
    """Yields copies of an object with a key too many: at the top, and in the part that is of one event."""
    yield {**value, EXTRA: 1}
    inner = value.get("hookSpecificOutput")
    if inner:
        yield {**value, "hookSpecificOutput": {**inner, EXTRA: 1}}


def values_of(shape, icm, work):
    """Returns the values to check, and a line about them."""
    files = sorted((ROOT / "crates/clients/tests/samples" / shape.samples).glob("*.json"))
    samples = [it for it in files if not (shape.skips and it.stem.startswith(shape.skips))]
    expect(len(samples) >= 6, f"{len(samples)} samples of {shape.samples}")
    inputs = [Value(f"sample {it.stem}", it.stem, True, json.loads(it.read_bytes())) for it in samples]
    outputs, told = [], 0
    for full in (True, False):
        for sample, said in answers(icm, work, samples, full).items():
            told += full and any(text.encode() in said for text in (START, FITS))
            of = f"the answer to {sample.stem}"
            if said:
                outputs.append(Value(of, sample.stem, False, json.loads(said)))
    expect(told == shape.tells, f"{told} samples were answered with a context, not {shape.tells}")
    values = [it for it in inputs + outputs if it.part() not in shape.without]
    left = f", no type for {', '.join(shape.without)}" if shape.without else ""
    wrong = [Value(it.of, it.event, it.is_input, value, True) for it in values for value in with_extra(it.value)]
    line = f"{sum(it.is_input for it in values)} inputs and {sum(not it.is_input for it in values)} answers fit, "
    return values + wrong, f"{line}{len(wrong)} with an extra key refused{left}"


def main(key, title, package, tsc, icm, work, rows):
    work, shape = Path(work), SHAPES[key]
    by = "schema" if isinstance(shape, Schemas) else "types"
    try:
        expect(can(icm, "hook"), "this icm has no `hook`")
        values, said = values_of(shape, icm, work)
        shape.check(package, tsc, work, values)
    except Failed as fault:
        print(f"failed: {title}, {by}: {fault}", file=sys.stderr)
        said = f"**failed**: {str(fault)[:120]}"
    with open(rows, "a") as file:
        file.write(f"| {title} | {by} | inputs and answers | {said} |\n")
    sys.exit(said.startswith("**"))


if __name__ == "__main__":
    main(*sys.argv[1:])
