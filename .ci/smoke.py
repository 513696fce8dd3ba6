"""Starts the release binary on an empty folder and pastes the shell examples of our pages into a shell.

Usage: smoke.py BINARY README [PAGE...]. The README's first example must end with an answer that says `accept`; of all
other examples that call the server, each call must be taken.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time


FAILING = 'curl() { command curl --fail-with-body "$@"; }\n'
ASK = """REF=$(curl -sS "$COUNTERSIGN_URL/v1/elicitations" -H "Authorization: Bearer $COUNTERSIGN_API_KEY" \\
  -d '{"message": "May it?"}' | grep -oE '[0-9A-Z]{3}-[0-9A-Z]{3}' | head -n 1)
"""


def examples(page):
    return re.findall(r"```sh\n(.*?)```", pathlib.Path(page).read_text(), re.S)


def example(readme):
    return next(block for block in examples(readme) if "ELICITATION_REQUEST_URL" in block)


def paste(block, folder):
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], cwd=folder, capture_output=True, text=True, timeout=60
    )


def try_all(pages, first, folder):
    tried = 0
    for block in (block for page in pages for block in examples(page)):
        if "curl" in block and block != first:
            ask = ASK if "$REF" in block else ""
            done = paste(FAILING + ". .countersign/env\n" + ask + block, folder)
            assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
            tried += 1
    return tried


def main(binary, readme, *pages):
    with tempfile.TemporaryDirectory() as folder:
        ready = os.path.join(folder, "ready.json")
        data = os.path.join(folder, ".countersign")
        server = subprocess.Popen(
            [os.path.abspath(binary), "--port", "0", "--data", data, "--ready-file", ready], cwd=folder
        )
        try:
            deadline = time.monotonic() + 30
            while not os.path.exists(ready):
                assert server.poll() is None, f"the server ended with {server.returncode}"
                assert time.monotonic() < deadline, "the server was not ready within 30 s"
                time.sleep(0.05)
            assert json.load(open(ready))["base_url"], "the ready file names no base_url"
            done = paste(example(readme), folder)
            print(done.stdout)
            assert done.returncode == 0, done.stderr
            assert '"action":"accept"' in done.stdout.replace(" ", ""), "the asker did not learn the answer"
            assert any(name.endswith(".eml") for name in os.listdir(os.path.join(data, "outbox"))), "no mail"
            tried = try_all([readme, *pages], example(readme), folder)
        finally:
            server.terminate()
            assert server.wait(20) == 0, "the server did not end cleanly"
    print(f"{1 + tried} passed, 0 failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
