//! The built binary, started as a person or a harness starts it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// How often something is looked for, 20 ms apart, before it counts as missing.
const LOOKS: u32 = 1_500;

fn pause() {
    #[expect(clippy::disallowed_methods, reason = "another process's clock cannot be held in a hand")]
    std::thread::sleep(Duration::from_millis(20));
}

fn countersign(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["serve", "--port", "0", "--data"]).arg(data).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running server; killed when it goes.
struct Server {
    process: Child,
    ready: Value,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Server {
    fn start(data: &Path, extra: &[&str]) -> Self {
        let file = data.parent().unwrap().join("ready.json");
        drop(fs::remove_file(&file));
        let mut process = countersign(data).arg("--ready-file").arg(&file).args(extra).spawn().unwrap();
        for _ in 0..LOOKS {
            if let Ok(bytes) = fs::read(&file) {
                return Self { process, ready: serde_json::from_slice(&bytes).expect("a whole file") };
            }
            if let Some(status) = process.try_wait().unwrap() {
                panic!("ended with {status}: {:?}", process.wait_with_output());
            }
            pause();
        }
        panic!("not ready");
    }

    fn text(&self, member: &str) -> &str {
        self.ready[member].as_str().unwrap()
    }

    /// The raw answer to a request.
    fn call(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut answer = String::new();
        self.open(method, path, headers, body).read_to_string(&mut answer).unwrap();
        answer
    }

    /// The connection that a request was sent on.
    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let address = self.text("base_url").strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: application/json\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        self.call("GET", path, "", "")
    }

    /// Asks it to end and waits for that.
    fn terminate(mut self) -> ExitStatus {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        for _ in 0..LOOKS {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            pause();
        }
        panic!("it does not end");
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    (parent, data)
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).expect(answer)
}

#[track_caller]
fn check_refused(command: &mut Command, code: i32, words: &str) {
    let Output { status, stderr, .. } = command.output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(words), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_server_answers_survives_a_kill_and_keeps_its_keys() {
    let (_parent, data) = folder();
    let first = Server::start(&data, &[]);
    let answer = first.get("/healthz");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.to_ascii_lowercase().contains("keep-alive: timeout=30"), "{answer}");
    let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("credentials.json"), 0o600);
    assert_eq!(mode("../ready.json"), 0o600);
    check_refused(&mut countersign(&data), 4, "another countersign uses the data folder");

    let before = first.ready.clone();
    drop(first); // kill -9
    let second = Server::start(&data, &[]);
    for member in ["api_key", "operator_key", "tenant", "session"] {
        assert_eq!(second.ready[member], before[member], "{member}");
    }
    let token = |ready: &Value| {
        let url = ready["env"]["ELICITATION_REQUEST_URL"].as_str().unwrap();
        url.split_once("/t/").unwrap().1.to_owned()
    };
    assert_eq!(token(&second.ready), token(&before));
    assert!(second.get("/readyz").starts_with("HTTP/1.1 200"));
    assert!(
        second.call("POST", "/dev/tick", "", "{}").starts_with("HTTP/1.1 404"),
        "hooks only where asked for"
    );
    assert_eq!(second.terminate().code(), Some(0));
}

#[test]
fn a_question_is_asked_mailed_answered_and_learned() {
    let (_parent, data) = folder();
    let server = Server::start(&data, &["--dev-hooks"]);
    let url = server.ready["env"]["ELICITATION_REQUEST_URL"].as_str().unwrap();
    let asks = url.strip_prefix(server.text("base_url")).unwrap();
    let body = r#"{"message": "Send the e-mail?", "_meta": {"com.pulsemcp/request-id": "try-1"}}"#;
    let asked = server.call("POST", asks, "", body);
    assert!(asked.starts_with("HTTP/1.1 201"), "{asked}");
    server.call("POST", "/dev/tick", "", "{}");
    let outbox = server.get("/dev/outbox");
    assert!(outbox.contains("you@localhost"), "{outbox}");
    assert_eq!(fs::read_dir(data.join("outbox")).unwrap().count(), 1);
    let key = format!("Authorization: Bearer {}\r\n", server.text("api_key"));
    let accept = r#"{"action_type": "accept"}"#;
    let answered = server.call("PATCH", "/api/v1/elicitations/try-1/respond", &key, accept);
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    let learned = server.get(&format!("{asks}/try-1"));
    assert!(learned.contains(r#""action":"accept""#), "{learned}");
}

/// A command of a person at `server`, whose sign-in lies in `folder`.
fn person(server: &Server, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(args).env("COUNTERSIGN_URL", server.text("base_url"));
    command.env("COUNTERSIGN_SIGNIN", folder.join("person/signin.json"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn an_approver_signs_in_reads_and_answers_in_a_terminal() {
    let (parent, data) = folder();
    let server = Server::start(&data, &["--dev-hooks"]);
    let run = |args: &[&str]| person(&server, parent.path(), args).output().unwrap();
    let told = |output: &Output| String::from_utf8([&output.stdout[..], &output.stderr].concat()).unwrap();
    assert_eq!(run(&["inbox"]).status.code(), Some(2), "nobody is signed in, and nobody can be asked");

    let key = format!("Authorization: Bearer {}\r\n", server.text("api_key"));
    let ask = |text: &str| body(&server.call("POST", "/v1/elicitations", &key, text));
    let form =
        r#"{"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]}"#;
    let asked = ask(&format!(r#"{{"message": "How many\u202e?", "requested_schema": {form}}}"#));
    server.call("POST", "/dev/tick", "", "{}");

    let mut signing_in =
        person(&server, parent.path(), &["signin", "--email", "you@localhost"]).spawn().unwrap();
    let code = (0..LOOKS).find_map(|_| {
        pause();
        server.call("POST", "/dev/tick", "", "{}");
        let sent = body(&server.get("/dev/outbox"));
        sent.to_string().split_once(r#""code":""#).map(|(_, rest)| rest[..6].to_owned())
    });
    signing_in.stdin.take().unwrap().write_all(format!("{}\n", code.unwrap()).as_bytes()).unwrap();
    let signed = signing_in.wait_with_output().unwrap();
    assert!(signed.status.success(), "{}", told(&signed));
    let kept = fs::metadata(parent.path().join("person/signin.json")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);

    let reference = asked["reference"].as_str().unwrap();
    let listed = told(&run(&["inbox"]));
    assert!(
        listed.contains(reference) && listed.contains("U+202E") && !listed.contains('\u{202e}'),
        "{listed}"
    );
    let wrong = run(&["decide", reference, "--approve", "--set", "n=9"]);
    assert_eq!(wrong.status.code(), Some(1), "{}", told(&wrong));
    let right = run(&["decide", reference, "--approve", "--set", "n=3"]);
    assert!(right.status.success(), "{}", told(&right));
    let view = server.call("GET", &format!("/v1/elicitations/{}", asked["id"].as_str().unwrap()), &key, "");
    assert_eq!(
        (&body(&view)["status"], &body(&view)["content"]["n"]),
        (&"accept".into(), &3.into()),
        "{view}"
    );
    let late = run(&["decide", reference, "--decline"]);
    assert_eq!(late.status.code(), Some(1), "{}", told(&late));
    assert!(run(&["signin", "--out"]).status.success());
    assert_eq!(run(&["inbox"]).status.code(), Some(2));
}

#[test]
fn the_end_lets_held_reads_go() {
    let (_parent, data) = folder();
    let server = Server::start(&data, &[]);
    let key = format!("Authorization: Bearer {}\r\n", server.text("api_key"));
    let asked = server.call("POST", "/v1/elicitations", &key, r#"{"session": "demo", "message": "Go?"}"#);
    let id = body(&asked)["id"].as_str().unwrap().to_owned();
    let mut held = server.open("GET", &format!("/v1/elicitations/{id}?wait_seconds=20"), &key, "");
    let is_held =
        || body(&server.call("GET", "/v1/sessions/demo", &key, ""))["asker_last_seen_at"].is_string();
    assert!((0..LOOKS).any(|_| {
        pause();
        is_held()
    }));
    assert_eq!(server.terminate().code(), Some(0));
    let mut answer = String::new();
    held.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "the read was held past the grace and cut off: {answer}");
    assert_eq!(body(&answer)["status"], "pending");
}

#[test]
fn in_memory_no_folder_is_made() {
    let (_parent, data) = folder();
    let server = Server::start(&data, &["--memory"]);
    assert!(server.get("/healthz").starts_with("HTTP/1.1 200"));
    assert!(!data.exists());
}

#[test]
fn what_cannot_work_is_said_in_one_sentence() {
    let (parent, data) = folder();
    let server = Server::start(&data, &[]);
    let port = server.text("base_url").rsplit(':').next().unwrap().to_owned();
    let mut other = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let taken = format!("port {port} is taken; try another --port, or 0 for any free one");
    check_refused(other.args(["--memory", "--port", &port]), 3, &taken);
    drop(server);

    let bad_url = &mut countersign(&data);
    check_refused(
        bad_url.env("COUNTERSIGN_BASE_URL", "example.com"),
        2,
        "COUNTERSIGN_BASE_URL cannot be used",
    );
    check_refused(countersign(&data).arg("--nonsense"), 2, "--nonsense");
    let file = parent.path().join("file");
    fs::write(&file, "x").unwrap();
    check_refused(&mut countersign(&file.join("below")), 5, "a file is in the way");
    fs::write(data.join("credentials.json"), "{}").unwrap();
    check_refused(&mut countersign(&data), 5, "credentials.json");
}

/// Every kind of secret, each used well and badly, and then looked for in all that the server logged at its most talkative.
#[test]
fn no_secret_of_a_request_is_in_a_log_or_an_error() {
    let (_parent, data) = folder();
    let file = data.parent().unwrap().join("ready.json");
    let mut command = countersign(&data);
    command.arg("--ready-file").arg(&file).env("COUNTERSIGN_LOG", "trace");
    let log = fs::File::create(data.parent().unwrap().join("log")).unwrap();
    let process = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let mut server = Server { process, ready: Value::Null };
    for _ in 0..LOOKS {
        if let Ok(bytes) = fs::read(&file) {
            server.ready = serde_json::from_slice(&bytes).expect("a whole file");
            break;
        }
        pause();
    }
    let key = server.text("api_key").to_owned();
    let with = |key: &str| format!("Authorization: Bearer {key}\r\n");
    let made = |path: &str, request: &str| body(&server.call("POST", path, &with(&key), request));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let agent = text(&made("/v1/keys", r#"{"name": "agent", "scopes": ["ask"]}"#)["key"]);
    let endpoint = made("/v1/endpoints", r#"{"inbound": {"enabled": true, "actor_kinds": ["sub"]}}"#);
    let token = text(&made("/v1/sessions", "{}")["ask_token"]);
    let shared = "a-canary-of-a-secret-that-two-know";
    let issuer = format!(r#"{{"iss": "me", "shared_secret": "{shared}", "algorithm": "HS256"}}"#);
    made("/v1/issuers", &issuer);
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.Y2FuYXJ5LXNpZ25hdHVyZQ";
    let ask = format!("/t/{token}/api/v1/elicitations");
    let question =
        r#"{"message": "canary question", "_meta": {"com.pulsemcp/request-id": "canary-request"}}"#;
    let asked = body(&server.call("POST", &ask, "", question));
    let handle = text(&asked["requestId"]);
    let respond =
        format!("/v1/elicitations/{}/respond", text(&asked["_meta"]["com.countersign/elicitation-id"]));
    let mut errors = String::new();
    for (method, path, headers, request) in [
        ("GET", format!("{ask}/{handle}"), String::new(), ""),
        ("GET", format!("{ask}/{handle}x"), String::new(), ""),
        ("POST", format!("/t/{token}x/api/v1/elicitations"), String::new(), question),
        ("POST", ask.clone(), String::new(), "{"),
        ("GET", "/v1/keys".into(), with(&agent), ""),
        ("GET", "/v1/keys".into(), with(&format!("{agent}x")), ""),
        ("GET", "/v1/keys".into(), with(jwt), ""),
        ("GET", "/v1/tenants".into(), with(server.text("operator_key")), ""),
        ("POST", respond, with(&key), r#"{"action": "accept", "reason": "canary reason"}"#),
        (
            "POST",
            format!("/v1/inbound/{}", text(&endpoint["id"])),
            "webhook-id: m\r\nwebhook-timestamp: 1\r\nwebhook-signature: v1,Y2FuYXJ5\r\n".into(),
            "canary body",
        ),
        ("POST", "/v1/issuers".into(), with(&key), &issuer),
    ] {
        let answer = server.call(method, &path, &headers, request);
        if !answer.starts_with("HTTP/1.1 2") {
            errors.push_str(&answer);
        }
    }
    server.terminate();
    let logged = fs::read_to_string(data.parent().unwrap().join("log")).unwrap();
    assert!(logged.contains("/t/{token}/api/v1/elicitations"), "the log says nothing");
    let secret = text(&endpoint["inbound_secret"]);
    let canaries = [
        &key,
        &agent,
        &token,
        &handle,
        &secret,
        jwt,
        shared,
        "canary question",
        "canary reason",
        "canary body",
        "canary-request",
        "Y2FuYXJ5",
    ];
    for canary in canaries {
        assert!(!logged.contains(canary), "{canary} is in the log");
        assert!(!errors.contains(canary), "{canary} is in an error");
    }
}
