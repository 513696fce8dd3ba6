//! What the terminal shows at the start.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use countersign_wire::session::Env;

use crate::shell::{env_file, quoted};

/// Shows `text` and a line end. Standard output may be gone, as behind `| head`: no reason to stop serving.
pub(crate) fn say(text: &str) {
    drop(writeln!(io::stdout().lock(), "{text}"));
}

/// What the banner tells. No `Debug`: most of it is secret.
pub(crate) struct Banner {
    /// Where the socket listens.
    pub(crate) listens_at: String,
    /// Where askers and people reach the server.
    pub(crate) base_url: String,
    /// The data folder; `None` in memory.
    pub(crate) folder: Option<PathBuf>,
    /// Mail leaves this machine.
    pub(crate) mail_is_sent: bool,
    /// The developer's hooks are on.
    pub(crate) dev_hooks: bool,
    /// The variables were not shown before, or have changed.
    pub(crate) is_first: bool,
    /// The demo tenant's key.
    pub(crate) api_key: String,
    /// The five variables.
    pub(crate) env: Env,
    /// A link to sign in with, once.
    pub(crate) signin_url: Option<String>,
}

impl Banner {
    /// The whole text: long at first, short ever after.
    pub(crate) fn text(&self) -> String {
        let mut text = self.places();
        if let Some(url) = &self.signin_url {
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\nYour inbox, in a browser on this machine (the link works once, for an hour):\n\n  {url}\n"
            );
        }
        text.push_str(&self.variables());
        if self.is_first {
            text.push_str(&self.example());
        }
        text
    }

    fn places(&self) -> String {
        let mut text = format!("Countersign listens on {}, for this machine only.\n", self.listens_at);
        let mut line = |label: &str, what: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {label:<7} {what}");
        };
        if self.base_url != self.listens_at {
            line("reached", &format!("at {}, as COUNTERSIGN_BASE_URL says", self.base_url));
        }
        let folder = self.folder.as_ref().map(|folder| folder.display());
        match &folder {
            Some(folder) => {
                line("data", &format!("{folder} (variables in env, and in agent.env for an agent)"));
            }
            None => line("data", "in memory, forgotten at the end"),
        }
        match &folder {
            _ if self.mail_is_sent => line("mail", "sent through the server of COUNTERSIGN_SMTP_URL"),
            Some(folder) => line("mail", &format!("stays here: in {folder}/outbox, and one line each below")),
            None => line("mail", "stays here: one line each below"),
        }
        if self.dev_hooks {
            line("hooks", "on: anybody on this machine may move the clock and break the store");
        }
        text
    }

    fn variables(&self) -> String {
        let mut text = String::from("\nFor a tool server whose calls a person is to approve:\n\n");
        for (name, value) in self.env.entries() {
            let _ = writeln!(text, "  export {name}={}", quoted(value));
        }
        text
    }

    fn example(&self) -> String {
        let env = self.folder.as_ref().map(|folder| quoted_path(&env_file(folder)));
        let set = env.map_or_else(|| self.by_hand(), |file| format!("  . {file}\n"));
        format!(
            r#"
Whoever has these URLs can ask in this session, and cannot answer.

To try it, in another terminal: ask as the agent, answer as the person, see what the agent learns.

{set}  ID="try-$(date +%s)"

  curl -sS "$ELICITATION_REQUEST_URL" \
    -d '{{"message": "Send the e-mail?", "_meta": {{"com.pulsemcp/request-id": "'"$ID"'"}}}}'

  curl -sS -X PATCH "$COUNTERSIGN_URL/api/v1/elicitations/$ID/respond" \
    -H "X-API-Key: $COUNTERSIGN_API_KEY" -d '{{"action_type": "accept"}}'

  curl -sS "$ELICITATION_POLL_URL/$ID"

That terminal now holds a key that can decide: start no agent from it.
Ctrl-C here ends the server.
"#
        )
    }

    /// Without a folder there is no file to read: the two that are not shown above.
    fn by_hand(&self) -> String {
        let (url, key) = (quoted(&self.base_url), quoted(&self.api_key));
        format!(
            "  export COUNTERSIGN_URL={url}\n  export COUNTERSIGN_API_KEY={key}\n  # and the five from above\n"
        )
    }
}

/// A path as a shell reads it, quoted only where that is needed.
fn quoted_path(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    // `. env` would look for a command: a file beside us needs its folder.
    let text = if text.contains('/') { text } else { format!("./{text}") };
    if plain { text } else { quoted(&text) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use countersign_core::id::{Bits130, SessionId};

    use super::*;

    fn banner() -> Banner {
        let session = SessionId::new(Bits130::from_bytes([1; 17]));
        let ask = "http://127.0.0.1:8787/t/cst_x/api/v1/elicitations";
        Banner {
            listens_at: "http://127.0.0.1:8787".into(),
            base_url: "http://127.0.0.1:8787".into(),
            folder: Some("./.countersign".into()),
            mail_is_sent: false,
            dev_hooks: false,
            is_first: true,
            api_key: "csk_x".into(),
            env: Env::new(ask.into(), ask.into(), Duration::from_hours(1), session),
            signin_url: None,
        }
    }

    #[test]
    fn the_first_one_has_variables_and_an_example() {
        let text = banner().text();
        assert!(text.contains("\n  export ELICITATION_TTL_MS='3600000'\n"), "{text}");
        assert!(text.contains("\n  . ./.countersign/env\n"), "{text}");
        assert!(!text.contains("csk_x"), "the key is in the file: {text}");
        assert!(text.contains("in ./.countersign/outbox"), "{text}");
        assert!(!text.contains("hooks") && !text.contains("reached"), "{text}");
    }

    #[test]
    fn a_later_one_is_short_and_shows_no_key() {
        let text = Banner { is_first: false, ..banner() }.text();
        assert!(text.lines().count() <= 12, "{text}");
        assert!(text.contains("export ELICITATION_REQUEST_URL") && !text.contains("csk_x"), "{text}");
    }

    #[test]
    fn it_tells_what_is_so() {
        let base_url = "https://ask.example.com".to_owned();
        let sent = Banner { mail_is_sent: true, dev_hooks: true, base_url, ..banner() }.text();
        assert!(sent.contains("COUNTERSIGN_SMTP_URL") && !sent.contains("outbox"), "{sent}");
        assert!(sent.contains("hooks") && sent.contains("at https://ask.example.com"), "{sent}");
        let forgotten = Banner { folder: None, ..banner() }.text();
        assert!(forgotten.contains("in memory") && !forgotten.contains("outbox"), "{forgotten}");
        assert!(forgotten.contains("COUNTERSIGN_API_KEY='csk_x'"), "{forgotten}");
    }
}
