//! The five variables that a tool server with the fallback client needs, ready to paste.

use std::fmt::Write as _;
use std::time::Duration;

use countersign_core::id::SessionId;
use serde::Serialize;

/// The five variables; all of them, since the client asks nobody when a URL or the preference is missing.
///
/// No `Debug`: the URLs hold the ask token.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Env {
    #[serde(rename = "ELICITATION_REQUEST_URL")]
    request_url: String,
    #[serde(rename = "ELICITATION_POLL_URL")]
    poll_url: String,
    #[serde(rename = "ELICITATION_PREFER_HTTP_FALLBACK")]
    prefer_http_fallback: &'static str,
    #[serde(rename = "ELICITATION_TTL_MS")]
    ttl_ms: String,
    #[serde(rename = "ELICITATION_SESSION_ID")]
    session_id: String,
}

impl Env {
    /// The variables of one ask token. The session is named by its id.
    pub fn new(request_url: String, poll_url: String, ttl: Duration, session: SessionId) -> Self {
        Self {
            request_url,
            poll_url,
            prefer_http_fallback: "true",
            ttl_ms: ttl.as_millis().to_string(),
            session_id: session.to_string(),
        }
    }

    /// Names and values, in the order on the wire.
    pub fn entries(&self) -> [(&'static str, &str); 5] {
        [
            ("ELICITATION_REQUEST_URL", &self.request_url),
            ("ELICITATION_POLL_URL", &self.poll_url),
            ("ELICITATION_PREFER_HTTP_FALLBACK", self.prefer_http_fallback),
            ("ELICITATION_TTL_MS", &self.ttl_ms),
            ("ELICITATION_SESSION_ID", &self.session_id),
        ]
    }
}

/// The variables as text to paste into the configuration of one tool server: hosts do not hand their own environment
/// down.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct McpEnv {
    json: String,
    toml: String,
}

impl McpEnv {
    /// Both texts. `json` is the `"env"` member of a server entry in `.mcp.json`; `toml` is the `env` line of a
    /// `[mcp_servers.NAME]` table in Codex's `config.toml`, on one line as TOML 1.0 wants inline tables.
    pub fn of(env: &Env) -> Self {
        let quoted = |(name, value): (&str, &str)| (name.to_owned(), quote(value));
        let entries = env.entries().map(quoted);
        let json: Vec<_> = entries.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
        let toml: Vec<_> = entries.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        Self {
            json: format!("\"env\": {{\n{}\n}}", json.join(",\n")),
            toml: format!("env = {{ {} }}", toml.join(", ")),
        }
    }
}

/// `text` between quotes, escaped so that it is a JSON string and a TOML basic string alike.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            // TOML forbids U+007F bare, and JSON has no eight-digit escapes; controls all fit four digits.
            char if char.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn quotes_backslashes_and_controls_are_escaped_for_both() {
        assert_eq!(quote("a\"b\\c\n\u{7f}é"), r#""a\"b\\c\u000A\u007Fé""#);
    }

    proptest! {
        #[test]
        fn the_pasted_json_reads_back(url: String) {
            let session = SessionId::new(countersign_core::id::Bits130::from_bytes([1; 17]));
            let env = Env::new(url.clone(), url, Duration::from_hours(1), session);
            let text = format!("{{{}}}", McpEnv::of(&env).json);
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read["env"], &serde_json::to_value(&env).unwrap());
        }

        #[test]
        fn the_pasted_toml_stays_on_one_line(url: String) {
            let quoted = quote(&url);
            prop_assert!(!quoted.chars().any(char::is_control));
        }
    }
}
