"""Starts the release binary on an empty folder and pastes the README's first shell example into a shell.

Usage: smoke.py BINARY README. The example must end with an answer that says `accept`.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time


def example(readme):
    blocks = re.findall(r"```sh\n(.*?)```", pathlib.Path(readme).read_text(), re.S)
    return next(block for block in blocks if "ELICITATION_REQUEST_URL" in block)


def main(binary, readme):
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
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", example(readme)], cwd=folder, capture_output=True, text=True,
                timeout=60,
            )
            print(done.stdout)
            assert done.returncode == 0, done.stderr
            assert '"action":"accept"' in done.stdout.replace(" ", ""), "the asker did not learn the answer"
            assert any(name.endswith(".eml") for name in os.listdir(os.path.join(data, "outbox"))), "no mail"
        finally:
            server.terminate()
            assert server.wait(20) == 0, "the server did not end cleanly"
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
