"""Receives events of a real server as a tenant would, and verifies them with the official Standard Webhooks library.

Usage: webhooks.py BINARY
"""
import http.server
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

LIMIT_S = 30


class Receiver(http.server.BaseHTTPRequestHandler):
    arrived = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.arrived.put(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def call(ready, method, path, body):
    headers = {"Authorization": f"Bearer {ready['api_key']}", "Content-Type": "application/json"}
    request = urllib.request.Request(ready["base_url"] + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=LIMIT_S) as reply:
        return json.load(reply)


def refuses(secret, message):
    try:
        Webhook(secret).verify(message[1], message[0])
    except WebhookVerificationError:
        return True
    return False


def check(ready, receiver):
    url = f"http://127.0.0.1:{receiver.server_port}/in"
    wish = {"url": url, "events": ["elicitation.created", "elicitation.settled"]}
    endpoint = call(ready, "POST", "/v1/endpoints", wish)
    asked = call(ready, "POST", "/v1/elicitations", {"title": "Send it", "message": "Grüße, 送る?"})
    told = {}
    message = Receiver.arrived.get(timeout=LIMIT_S)
    told[message[0]["webhook-id"]] = Webhook(endpoint["secret"]).verify(message[1], message[0])
    call(ready, "POST", f"/v1/elicitations/{asked['id']}/respond", {"action": "accept"})
    message = Receiver.arrived.get(timeout=LIMIT_S)
    told[message[0]["webhook-id"]] = Webhook(endpoint["secret"]).verify(message[1], message[0])
    kinds = [(one["type"], one["data"]["id"], one["data"]["status"]) for one in told.values()]
    assert kinds[0][:2] == ("elicitation.created", asked["id"]), kinds
    assert kinds[1] == ("elicitation.settled", asked["id"], "accept"), kinds
    rotated = call(ready, "POST", f"/v1/endpoints/{endpoint['id']}/rotate", {"which": "secret"})
    call(ready, "POST", "/v1/elicitations", {"message": "Once more?"})
    message = Receiver.arrived.get(timeout=LIMIT_S)
    for secret in (endpoint["secret"], rotated["secret"]):
        Webhook(secret).verify(message[1], message[0])
    assert refuses("whsec_" + "A" * 32, message), "a foreign secret verifies"
    assert refuses(endpoint["secret"], (message[0], message[1] + b" ")), "another body verifies"
    print("3 events verified by standardwebhooks, the last with two secrets; 2 forgeries refused")


def main(binary):
    receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        ready = os.path.join(folder, "ready.json")
        options = ["--port", "0", "--memory", "--dev-hooks", "--ready-file", ready]
        server = subprocess.Popen([os.path.abspath(binary), *options], stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + LIMIT_S
            while not os.path.exists(ready):
                assert server.poll() is None and time.monotonic() < deadline, "the server does not start"
                time.sleep(0.05)
            with open(ready) as file:
                check(json.load(file), receiver)
        finally:
            server.terminate()
            assert server.wait(20) == 0, "the server did not end cleanly"


if __name__ == "__main__":
    main(*sys.argv[1:])
