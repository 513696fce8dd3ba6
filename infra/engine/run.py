"""Deploys the template into MiniStack, with release binaries, and runs the acceptance cases against it.

Usage: run.py --sam SAM --binaries DIR --acceptance RUN [-- arguments of the acceptance run]

The functions run as processes here, started by MiniStack. Their DynamoDB is MiniStack's, behind a guard that judges every
request by the function's own role (MiniStack does not know LeadingKeys, nor the attributes of writes). Mail goes nowhere.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import boto3
from samtranslator.yaml_helper import yaml_parse

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "infra"), str(ROOT / "infra/engine")]
import policy  # noqa: E402
import secret  # noqa: E402
from loopback import Guard, front  # noqa: E402

STACK = "countersign"
PATIENCE_S = 60
SWEEP_EVERY_S = 5
# Cases that are known to fail here. One that passes has to leave this list.
KNOWN_TO_FAIL = {
    "a held read returns within a second": "a function does not hold native reads: waiting costs more than asking again",
    "webhooks: signed, retried": "there are no webhooks yet",
    "pages: GET never decides": "there is no sign-in yet",
}
MACHINE = {"x86_64": "x86_64", "aarch64": "arm64"}[os.uname().machine]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def surroundings(folder, port):
    """An environment in which no tool finds an account, a profile or a network."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    url = f"http://127.0.0.1:{port}"
    return {
        **kept, "HOME": str(folder), "AWS_ENDPOINT_URL": url, "AWS_REGION": policy.REGION, "AWS_DEFAULT_REGION": policy.REGION,
        "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0", "BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "IOT_MTLS_ENABLED": "0",
        "PERSIST_STATE": "0", "NO_PROXY": "127.0.0.1,localhost",
    }


def wait_for(ready, what):
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < deadline, f"{what} is not there after {PATIENCE_S} s"
        time.sleep(0.1)


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except OSError:
        return False


def call(method, url, key, body=None):
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), method=method)
    request.add_header("Authorization", f"Bearer {key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def without_what_the_engine_lacks(built):
    """MiniStack has no alarms over several metrics."""
    template = yaml_parse(built.read_text())
    alarms = [name for name, one in template["Resources"].items() if "Metrics" in one["Properties"]]
    for name in alarms:
        del template["Resources"][name]
    built.write_text(json.dumps(template))
    print(f"not deployed here: {', '.join(alarms)}")


class Deployment:
    def __init__(self, folder, environment, port, arguments):
        self.folder, self.environment, self.port, self.arguments = folder, environment, port, arguments
        self.template = json.loads((ROOT / "infra/template.generated.json").read_text())
        self.url = f"http://127.0.0.1:{free_port()}"
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        self.client = lambda service: boto3.client(
            service, endpoint_url=environment["AWS_ENDPOINT_URL"], region_name=policy.REGION, **keys
        )

    def sam(self, *words):
        binaries = {"COUNTERSIGN_BINARIES": str(self.arguments.binaries.resolve()), "ARCHITECTURE": MACHINE}
        done = subprocess.run(
            [self.arguments.sam, *words], env={**self.environment, **binaries}, cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, f"sam {words[0]} failed:\n{done.stdout[-20000:]}\n{done.stderr[-3000:]}"

    def deploy(self):
        document = secret.new()
        self.operator_key = document["operator_key"]
        made = self.client("secretsmanager").create_secret(Name=STACK, SecretString=json.dumps(document))
        built = self.folder / "build"
        self.sam("build", "--template-file", "template.yaml", "--build-dir", str(built), "--cache-dir", str(self.folder / "cache"))
        without_what_the_engine_lacks(built / "template.yaml")
        parameters = {"SecretArn": made["ARN"], "Architecture": MACHINE, "BaseUrl": self.url, "PollBaseUrl": self.url}
        self.sam(
            "deploy", "--template-file", str(built / "template.yaml"), "--stack-name", STACK, "--resolve-s3",
            "--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--no-progressbar",
            "--parameter-overrides", *(f"{name}={value}" for name, value in parameters.items()),
        )
        (stack,) = self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        assert stack["StackStatus"] == "CREATE_COMPLETE", stack["StackStatus"]
        self.outputs = {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}

    def physical(self, name):
        found = self.client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId=name)
        return found["StackResourceDetail"]["PhysicalResourceId"]

    def guard(self):
        """Puts a guard between each function and the table."""
        functions = self.client("lambda")
        self.guards = {}
        for name in policy.FUNCTIONS:
            statements = policy.statements(self.template, name, self.outputs["TableName"])
            guard = self.guards[name] = Guard(name, statements, self.port)
            deployed = self.physical(f"{name.capitalize()}Function")
            variables = functions.get_function_configuration(FunctionName=deployed)["Environment"]["Variables"]
            variables["COUNTERSIGN_DYNAMODB_ENDPOINT"] = guard.url
            functions.update_function_configuration(FunctionName=deployed, Environment={"Variables": variables})

    def open(self):
        host = re.search(r"//([^/]+)", self.outputs["PollUrl"])[1].partition(".")[0]
        api, poll = f"{self.outputs['ApiId']}.execute-api.localhost", f"{host}.lambda-url.{policy.REGION}.localhost"
        self.front = front(int(self.url.rpartition(":")[2]), self.port, f"{api}:{self.port}", f"{poll}:{self.port}", self.template)
        wait_for(lambda: answers(self.url + "/readyz"), "the deployment")

    def first_tenant(self):
        tenant = call("POST", self.url + "/v1/tenants", self.operator_key, {"name": "acme"})
        call("POST", self.url + "/v1/approvers", tenant["api_key"], {"name": "you", "email": "you@localhost"})
        # The cases ask and decide with one key, and ask again right after a decline, as the local server's demo tenant may.
        policy = call("GET", self.url + "/v1/policy", tenant["api_key"])
        policy.update(self_approval="allow", cool_down_seconds=[0, 300, 1800])
        for tier in policy["tiers"].values():
            tier["assurance"] = "tap"
        call("PUT", self.url + "/v1/policy", tenant["api_key"], policy)
        ready = self.folder / "ready.json"
        ready.write_text(json.dumps({
            "base_url": self.url, "operator_key": self.operator_key, "tenant": "acme", "api_key": tenant["api_key"],
        }))
        return ready

    def sweep(self):
        answer = self.client("lambda").invoke(FunctionName=self.physical("SweepFunction"), Payload=b"{}")
        return answer.get("FunctionError"), answer["Payload"].read().decode()


def check_the_guard_bites(deployment):
    """A create function that has been taken over writes a verdict: refused, and the row is as it was."""
    guard = deployment.guards["create"]
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    table = boto3.client("dynamodb", endpoint_url=guard.url, region_name=policy.REGION, **keys)
    forged = {
        "TableName": deployment.outputs["TableName"], "Key": {"PK": {"S": "T#acme#E#el_x"}, "SK": {"S": "STATE"}},
        "UpdateExpression": "SET #v = :v", "ExpressionAttributeNames": {"#v": "verdict"},
        "ExpressionAttributeValues": {":v": {"S": "accept"}},
    }
    try:
        table.transact_write_items(TransactItems=[{"Update": forged}])
    except table.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == "AccessDeniedException", error
        return guard.refused.pop()
    raise AssertionError("the guard let a verdict of create pass")


def run(deployment):
    deployment.deploy()
    deployment.guard()
    deployment.open()
    ready = deployment.first_tenant()
    print(f"deployed at {deployment.url} after {time.monotonic() - STARTED:.1f} s", flush=True)
    over, sweeps = threading.Event(), collections.Counter()

    def sweeping():
        while not over.wait(SWEEP_EVERY_S):
            error, said = deployment.sweep()
            sweeps["failed" if error else "done"] += 1
            if error:
                print(f"a sweep failed: {said}", flush=True)

    sweeper = threading.Thread(target=sweeping)
    sweeper.start()
    try:
        command = [deployment.arguments.acceptance, "--ready", ready, *deployment.arguments.rest]
        said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout
    finally:
        over.set()
        sweeper.join()
    counts, faults = acceptance(said)
    print("requests: " + ", ".join(f"{count} by {way}" for way, count in deployment.front.counted.items()))
    for name, guard in deployment.guards.items():
        print(f"role of {name}: judged {sum(guard.judged.values())} {dict(guard.judged)}, refused {len(guard.refused)}")
        print(f"  granted and not asked for: {', '.join(guard.unused()) or 'nothing'}")
        faults += dict.fromkeys(guard.refused)
    print(f"sweeps: {dict(sweeps)}")
    print(f"forged on purpose: {check_the_guard_bites(deployment)}")
    faults += ["sweeps failed, or there was none"] if sweeps["failed"] or not sweeps["done"] else []
    for one in faults:
        print(f"FAULT {one}")
    print(f"{counts['ok']} passed, {len(faults)} failed, {counts['skipped'] + counts['FAILED']} skipped")
    return bool(faults)


def acceptance(said):
    """How many cases went how, and what of it is wrong."""
    lines = said.splitlines()
    cases = [(word, title) for word, title in re.findall(r"^(ok|FAILED|skipped)\s+\w+: (.+)$", said, re.M)]
    faults = []
    for word, title in cases:
        known = next((why for start, why in KNOWN_TO_FAIL.items() if title.startswith(start)), None)
        if word == "FAILED" and known is None:
            faults.append(f"{title}: {lines[lines.index(next(one for one in lines if title in one)) + 1].strip()}")
        elif word == "ok" and known is not None:
            faults.append(f"{title}: is known to fail, and passes: take it off the list")
        print(f"{word:8}{title}" + (f" [known: {known}]" if word == "FAILED" and known else ""))
    if not cases:
        faults.append(f"the acceptance run says nothing: {said[-1000:]}")
    counts = collections.Counter(word for word, _ in cases)
    print(f"acceptance: {dict(counts)}")
    return counts, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sam", required=True)
    parser.add_argument("--binaries", required=True, type=pathlib.Path)
    parser.add_argument("--acceptance", required=True)
    parser.add_argument("rest", nargs="*")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="countersign-engine-") as folder:
        folder, port = pathlib.Path(folder), free_port()
        environment = surroundings(folder, port)
        log = (folder / "ministack.log").open("wb")
        engine = subprocess.Popen([sys.executable, "-m", "ministack"], env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            wait_for(lambda: answers(f"http://127.0.0.1:{port}/_ministack/health"), "MiniStack")
            failed = run(Deployment(folder, environment, port, arguments))
        except BaseException:
            print((folder / "ministack.log").read_text()[-6000:], file=sys.stderr)
            raise
        finally:
            engine.terminate()
            engine.wait(30)
    sys.exit(int(failed))


STARTED = time.monotonic()
if __name__ == "__main__":
    main()
