//! Why the server does not start, in words for the person who started it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use countersign_app::authority::AuthError;
use countersign_app::ports::StoreError;
use countersign_app::sessions::SessionError;
use countersign_embedded::engine::EngineError;
use countersign_runtime::BadConfig;

/// Why the server does not start, or ends before it is told to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// An environment variable cannot be used.
    #[error(transparent)]
    Config(#[from] BadConfig),
    /// Somebody else listens there.
    #[error("port {0} is taken; try another --port, or 0 for any free one")]
    PortTaken(u16),
    /// The port cannot be had for another reason.
    #[error("cannot listen on port {port} of 127.0.0.1: {error}")]
    Port {
        /// The port.
        port: u16,
        /// What the system says.
        error: io::Error,
    },
    /// Another process has the folder.
    #[error("another countersign uses the data folder {}; stop it, or name another folder with --data", .0.display())]
    FolderInUse(PathBuf),
    /// The folder cannot be used.
    #[error("cannot use the data folder {}: {error}{}", folder.display(), advice(error))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The keys cannot be read or written.
    #[error("cannot use {}: {error}{}", file.display(), advice(error))]
    CredentialsFile {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The keys are not what this program wrote.
    #[error(
        "cannot use {}: {why}; it holds the keys of this folder, so restore it, or move the folder away to start anew",
        file.display()
    )]
    BadCredentials {
        /// The file.
        file: PathBuf,
        /// What is wrong; nothing of the content.
        why: String,
    },
    /// The keys are not those of the database.
    #[error(
        "the API key in credentials.json is not one of this database; restore the file, or move the data folder away \
         to start anew"
    )]
    ForeignCredentials,
    /// The database cannot be opened.
    #[error("cannot open the database in {}: {text}", folder.display())]
    Database {
        /// Where it lies.
        folder: PathBuf,
        /// What the engine says.
        text: String,
    },
    /// The database does not take what the first start stores.
    #[error("cannot store the demo tenant: {0}")]
    Store(StoreError),
    /// The demo session cannot be had.
    #[error("cannot open the demo session: {0}")]
    Session(SessionError),
    /// The ready file cannot be written.
    #[error("cannot write the ready file {}: {error}{}", file.display(), advice(error))]
    Ready {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The server ended by itself.
    #[error("the server ended unexpectedly: {0}")]
    Server(String),
}

impl StartError {
    /// What the process ends with; `--help` lists them.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Store(_) | Self::Session(_) | Self::Ready { .. } | Self::Server(_) => 1,
            Self::Config(_) => 2,
            Self::PortTaken(_) | Self::Port { .. } => 3,
            Self::FolderInUse(_) => 4,
            Self::Folder { .. }
            | Self::CredentialsFile { .. }
            | Self::BadCredentials { .. }
            | Self::ForeignCredentials
            | Self::Database { .. } => 5,
        })
    }
}

impl StartError {
    /// What `error` of the engine means, whose data lie in `place`.
    pub(crate) fn of_engine(error: EngineError, place: &Path) -> Self {
        match error {
            EngineError::InUse(folder) => Self::FolderInUse(folder),
            EngineError::Folder { folder, error } => Self::Folder { folder, error },
            EngineError::Database(text) => Self::Database { folder: place.to_owned(), text },
        }
    }
}

impl From<AuthError> for StartError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Unauthenticated
            | AuthError::Forbidden(_)
            | AuthError::NotAnApprover
            | AuthError::KeysUnavailable => Self::ForeignCredentials,
            AuthError::Store(error) => Self::Store(error),
        }
    }
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SessionError> for StartError {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// What to do about `error`, as the rest of a sentence.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; make room on that disk",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; make it writable for you, or name another place"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "; a file is in the way, name another place",
        _ => "",
    }
}
