"""Runs the store's tests on MiniStack: the same test binary, each test on a table of its own there.

Left out are tests that look into the embedded engine itself, and those of the model, the mutants and the bodies, which
touch the store no other way or would take an hour over HTTP.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from run import answers, free_port, surroundings, wait_for

SUITE = ("round_trip", "concurrency", "crash_points", "faults", "inbound", "quotas", "tokens", "policy", "keys")
# They dump the embedded engine's table, or count what only it does.
LEFT_OUT = ("a_deleted_tenant_is_let_in_nowhere", "a_purge_that_dies_anywhere")


def main():
    with tempfile.TemporaryDirectory(prefix="countersign-suite-") as folder:
        folder, port = pathlib.Path(folder), free_port()
        environment = surroundings(folder, port)
        log = (folder / "ministack.log").open("wb")
        engine = subprocess.Popen([sys.executable, "-m", "ministack"], env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            wait_for(lambda: answers(f"http://127.0.0.1:{port}/_ministack/health"), "MiniStack")
            skips = [part for name in LEFT_OUT for part in ("--skip", name)]
            command = ["cargo", "test", "--locked", "--quiet", "-p", "countersign-tests", "--test", "it", "--", *SUITE, *skips]
            ours = {**os.environ, "COUNTERSIGN_TEST_DYNAMODB": f"127.0.0.1:{port}"}
            done = subprocess.run(command, env=ours, stdout=subprocess.PIPE, text=True)
        finally:
            engine.terminate()
            engine.wait(30)
    counts = re.search(r"(\d+) passed; (\d+) failed", done.stdout)
    if done.returncode or not counts or int(counts[1]) == 0:
        print(done.stdout[-6000:])
        sys.exit(1)
    print(f"the store's tests on MiniStack: {counts[1]} passed, {counts[2]} failed, {len(LEFT_OUT)} left out")


if __name__ == "__main__":
    main()
