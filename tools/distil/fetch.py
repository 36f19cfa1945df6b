"""Step 0: brings the packages of sources.json into a folder, through pip and apt-get, and checks their hashes."""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("packages", type=pathlib.Path)
    a = p.parse_args()
    a.packages.mkdir(parents=True, exist_ok=True)
    recipe = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())
    wrong = 0
    for s in [recipe["teacher"], *recipe["sentences"]]:
        path = a.packages / s["file"]
        if not path.exists():
            if s["registry"] == "apt":
                subprocess.run(["apt-get", "download", f"{s['name']}={s['version']}"], cwd=a.packages, check=True)
            else:
                python = s["file"].split("-")[2]
                target = ["--python-version", "3.14"] if s["name"] == "homeassistant" else []
                if python == "cp311":
                    target = ["--python-version", "3.11", "--platform", s["file"][:-4].split("-")[4].split(".")[-1]]
                subprocess.run(
                    [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", *target,
                     "-d", a.packages, f"{s['name']}=={s['version']}"],
                    check=True,
                )
        if hashlib.sha256(path.read_bytes()).hexdigest() != s["sha256"]:
            print(f"{s['file']}: another hash than the recipe's")
            wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
