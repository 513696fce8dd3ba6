//! What AWS makes of an HTTP request on its way to a function (payload format 2.0), and of the function's answer.

use std::collections::BTreeMap;

use axum::body::Bytes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, SET_COOKIE};
use http::{HeaderMap, Request, StatusCode};
use serde_json::{Map, Value, json};

use super::api::Outcome;
use crate::web::Reply;

/// What stands in front of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A Function URL: it leaves the path as it was sent.
    FunctionUrl,
    /// An HTTP API: it decodes the path, and what follows a decoded `?` is lost.
    HttpApi,
}

impl Origin {
    const fn domain(self) -> &'static str {
        match self {
            Self::FunctionUrl => "abcdefghij.lambda-url.eu-central-1.on.aws",
            Self::HttpApi => "abcdefghij.execute-api.eu-central-1.amazonaws.com",
        }
    }

    fn raw_path(self, path: &str) -> String {
        match self {
            Self::FunctionUrl => path.to_owned(),
            Self::HttpApi => decoded(path).split('?').next().unwrap_or_default().to_owned(),
        }
    }

    /// What a client is told of a function that failed.
    fn failure(self) -> Reply {
        let (status, body) = match self {
            Self::FunctionUrl => (StatusCode::BAD_GATEWAY, "Internal Server Error"),
            Self::HttpApi => (StatusCode::INTERNAL_SERVER_ERROR, r#"{"message":"Internal Server Error"}"#),
        };
        Reply { status, headers: HeaderMap::new(), bytes: body.into() }
    }
}

/// The event of `request`.
pub fn of(request: &Request<Bytes>, origin: Origin) -> Value {
    let (method, uri) = (request.method().as_str(), request.uri());
    let raw_path = origin.raw_path(uri.path());
    let body = request.body();
    let text = std::str::from_utf8(body).ok().filter(|_| is_text(request.headers()));
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": raw_path,
        "rawQueryString": uri.query().unwrap_or_default(),
        "headers": headers(request, origin),
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "abcdefghij",
            "domainName": origin.domain(),
            "domainPrefix": "abcdefghij",
            "http": {"method": method, "path": raw_path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1",
                     "userAgent": "conformance"},
            "requestId": "0b9c7f0e-0000-4000-8000-000000000000",
            "routeKey": "$default",
            "stage": "$default",
            "time": "30/Nov/2026:20:00:00 +0000",
            "timeEpoch": 1_796_068_800_000_i64
        },
        "isBase64Encoded": text.is_none() && !body.is_empty()
    });
    let cookies = cookies(request.headers());
    if !cookies.is_empty() {
        event["cookies"] = json!(cookies);
    }
    if !body.is_empty() {
        event["body"] = text.map_or_else(|| STANDARD.encode(body), str::to_owned).into();
    }
    event
}

/// Names in lower case, values of one name joined by a comma.
fn headers(request: &Request<Bytes>, origin: Origin) -> Map<String, Value> {
    let mut joined = BTreeMap::<&str, String>::new();
    for (name, value) in request.headers().iter().filter(|(name, _)| **name != COOKIE) {
        let value = String::from_utf8_lossy(value.as_bytes());
        joined.entry(name.as_str()).and_modify(|all| *all = format!("{all},{value}")).or_insert(value.into());
    }
    joined.insert(HOST.as_str(), origin.domain().into());
    if !request.body().is_empty() {
        joined.insert(CONTENT_LENGTH.as_str(), request.body().len().to_string());
    }
    joined.insert("x-forwarded-for", "192.0.2.1".into());
    joined.insert("x-forwarded-port", "443".into());
    joined.insert("x-forwarded-proto", "https".into());
    joined.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn cookies(headers: &HeaderMap) -> Vec<String> {
    let sent = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    sent.flat_map(|value| value.split(';')).map(|cookie| cookie.trim().to_owned()).collect()
}

fn is_text(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media_type.starts_with("text/") || media_type.contains("json") || media_type.contains("urlencoded")
}

/// `path` percent-decoded; what is no UTF-8 is replaced.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = (*first == b'%').then(|| others.get(..2)).flatten();
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What the client gets.
pub fn reply(outcome: &Outcome, origin: Origin) -> Reply {
    let Outcome::Response(payload) = outcome else { return origin.failure() };
    let answer: Value = serde_json::from_slice(payload).expect("a function answers JSON");
    let status = answer["statusCode"].as_u64().and_then(|code| u16::try_from(code).ok()).expect("a status");
    let body = answer["body"].as_str().unwrap_or_default();
    let bytes = if answer["isBase64Encoded"] == true {
        STANDARD.decode(body).expect("base64")
    } else {
        body.as_bytes().to_vec()
    };
    let mut headers = HeaderMap::new();
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        headers.append(name_of(name), value_of(value));
    }
    for cookie in answer["cookies"].as_array().into_iter().flatten() {
        headers.append(SET_COOKIE, value_of(cookie));
    }
    Reply { status: StatusCode::from_u16(status).expect("a status"), headers, bytes }
}

fn name_of(name: &str) -> HeaderName {
    name.parse().expect("a header's name")
}

fn value_of(value: &Value) -> HeaderValue {
    HeaderValue::from_str(value.as_str().expect("text")).expect("a header's value")
}
