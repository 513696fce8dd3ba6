//! Mails as files.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::OutboxMessage;

/// Files that are kept.
pub(super) const KEPT_FILES: usize = 1_000;
/// What is being written. One name, so that a crash leaves at most one, which the next mail overwrites.
pub(super) const HALF: &str = ".half-written.tmp";

/// What stands in the name of a mail for signing in, where others have their reference.
const SIGN_IN: &str = "sign-in";
const SUFFIX: &str = ".eml";

/// A directory of mails.
pub(super) struct Directory {
    path: PathBuf,
    /// The files that are ours, in the order in which they were written.
    names: VecDeque<String>,
    pub(super) room: usize,
}

impl Directory {
    /// The directory at `path`, with what an earlier run left there. It need not exist.
    pub(super) fn open(path: &Path) -> Self {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut dated: Vec<(i64, String)> = names.filter_map(|name| Some((millis(&name)?, name))).collect();
        dated.sort();
        let names = dated.into_iter().map(|(_, name)| name).collect();
        Self { path: path.to_owned(), names, room: KEPT_FILES }
    }

    /// Writes `message` as a file: the whole of it is there afterwards, or nothing.
    ///
    /// # Errors
    /// What went wrong where, in words.
    pub(super) fn add(&mut self, message: &OutboxMessage) -> Result<(), String> {
        let name = self.write(message).map_err(|error| {
            format!(
                "the mail cannot be written to {}, make room or make it writable: {error}",
                self.path.display()
            )
        })?;
        self.names.push_back(name);
        while self.names.len() > self.room {
            self.remove_oldest();
        }
        Ok(())
    }

    fn write(&self, message: &OutboxMessage) -> io::Result<String> {
        fs::create_dir_all(&self.path)?;
        let about = message.reference.as_ref().map_or(SIGN_IN, |reference| reference.as_str());
        let name = self.free_name(&format!("{}-{about}", message.at.millis()));
        let half = self.path.join(HALF);
        let written =
            write_through(&half, &message.raw).and_then(|()| fs::rename(&half, self.path.join(&name)));
        if written.is_err() {
            // Gives a full disk back what fitted; the error that counts is the one before.
            drop(fs::remove_file(&half));
        }
        written.map(|()| name)
    }

    /// Two people may be told of one question in the same millisecond.
    fn free_name(&self, stem: &str) -> String {
        let mut name = format!("{stem}{SUFFIX}");
        let mut copy = 1;
        while self.path.join(&name).exists() {
            copy += 1;
            name = format!("{stem}-{copy}{SUFFIX}");
        }
        name
    }

    fn remove_oldest(&mut self) {
        let Some(name) = self.names.pop_front() else { return };
        match fs::remove_file(self.path.join(&name)) {
            // Somebody may have tidied up.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "outbox file {name} is not removed, there are more than {} now", self.room);
            }
            _ => (),
        }
    }
}

/// Synced before it gets its name: a file system may otherwise keep the name and lose the content.
fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// When the mail in the file of this name was written; `None` if the file is not ours.
fn millis(name: &str) -> Option<i64> {
    let (millis, rest) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    let reference = rest.get(..7)?;
    let ours = (reference == SIGN_IN || reference.as_bytes()[3] == b'-')
        && matches!(rest.as_bytes().get(7), None | Some(b'-'));
    if ours { millis.parse().ok() } else { None }
}
