//! The variables as files that a shell reads: `. .countersign/env` for a person, `. .countersign/agent.env` for an agent.

use std::path::{Path, PathBuf};

use crate::error::StartError;
use crate::files::write_private;
use crate::ready::Ready;

/// Where the file lies in a data folder.
pub(crate) fn env_file(folder: &Path) -> PathBuf {
    folder.join("env")
}

/// Writes the files. Ports change between starts, so every start writes them anew.
pub(crate) fn write_env(folder: &Path, ready: &Ready) -> Result<(), StartError> {
    let write = |file: PathBuf, text: String| {
        write_private(&file, text.as_bytes()).map_err(|error| StartError::Ready { file, error })
    };
    write(folder.join("agent.env"), for_agents(ready))?;
    write(env_file(folder), for_people(ready))
}

fn for_people(ready: &Ready) -> String {
    let own = [("COUNTERSIGN_URL", ready.base_url.as_str()), ("COUNTERSIGN_API_KEY", &ready.api_key)];
    let warning = "# Written at each start. Holds a key that can decide: start no agent from a shell that has read this.";
    format!("{warning}\n{}{}", exports(own), exports(ready.env.entries()))
}

fn for_agents(ready: &Ready) -> String {
    format!(
        "# Written at each start. Asks and reads in one session, decides nothing.\n{}",
        exports(ready.env.entries())
    )
}

fn exports<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    variables.into_iter().map(|(name, value)| format!("export {name}={}\n", quoted(value))).collect()
}

/// `text` as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_in_a_url_stays_inside_its_word() {
        assert_eq!(quoted("a'b"), r"'a'\''b'");
    }
}
