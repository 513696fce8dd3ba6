"""Two small servers on loopback: the guard before the engine's DynamoDB, and the front before its HTTP API."""
import collections
import http.client
import http.server
import json
import pathlib
import re
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import policy  # noqa: E402

HOPS = {"connection", "host", "keep-alive", "transfer-encoding", "content-length"}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler, port=0):
        super().__init__(("127.0.0.1", port), handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Passing(http.server.BaseHTTPRequestHandler):
    """Passes a request on to the engine."""

    protocol_version = "HTTP/1.1"
    engine = None  # its port

    def read(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def pass_on(self, body, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.engine, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or f"127.0.0.1:{self.engine}")
        for name, value in self.headers.items():
            if name.lower() not in HOPS:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOPS]
        self.answer(answer.status, headers, answer.read())
        connection.close()

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Guard:
    """Judges every DynamoDB request of one function by the policies of its role, as AWS would."""

    def __init__(self, function, statements, engine):
        self.function, self.statements = function, statements
        self.judged, self.used, self.refused = collections.Counter(), set(), []
        guard = self

        class Handler(Passing):
            def do_POST(self):
                body = self.read()
                operation = self.headers["X-Amz-Target"].partition(".")[2]
                refused = guard.judge(operation, body)
                if refused is None:
                    return self.pass_on(body)
                kind = "com.amazon.coral.service#AccessDeniedException"
                said = json.dumps({"__type": kind, "Message": refused}).encode()
                self.answer(400, [("Content-Type", "application/x-amz-json-1.0")], said)

        Handler.engine = engine
        self.url = Server(Handler).url

    def judge(self, operation, body):
        """Why the request is refused; `None` where it is not."""
        self.judged[operation] += 1
        said = None
        for action, resource, context in policy.asked(operation, body):
            verdict = policy.judge(self.statements, action, resource, context)
            if verdict == policy.ALLOWED:
                self.used |= {(one["Sid"], action) for one in self.statements if policy.matches(one, action, resource, context)}
            else:
                said = f"{self.function}: {verdict}: {action} on {resource} with {context}"
                self.refused.append(said)
        return said

    def unused(self):
        """What is granted on the table and was not asked for."""
        granted = {(one["Sid"], action) for one in self.statements if one["Effect"] == "Allow" for action in one["Action"]}
        return sorted(f"{sid}/{action}" for sid, action in granted - self.used if action.startswith("dynamodb:"))


def front(port, engine, api, poll_url, template):
    """One address for both: the routes of `poll` go to its Function URL, everything else to the HTTP API."""
    def polls():
        for one in template["Resources"].values():
            if one["Type"] == "AWS::ApiGatewayV2::Route" and "PollIntegration" in one["Properties"]["Target"]["Fn::Sub"]:
                method, path = one["Properties"]["RouteKey"].split(" ")
                yield method, re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))

    of_poll, counted = list(polls()), collections.Counter()

    class Handler(Passing):
        def do(self):
            path = self.path.partition("?")[0]
            is_poll = any(method == self.command and route.fullmatch(path) for method, route in of_poll)
            counted["Function URL" if is_poll else "HTTP API"] += 1
            self.pass_on(self.read(), poll_url if is_poll else api)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do

    Handler.engine = engine
    server = Server(Handler, port)
    server.counted = counted
    return server
