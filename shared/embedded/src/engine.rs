//! Starting the engine, on a file that survives kill -9 or in memory.

use std::fs::{self, File, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Builder, Credentials, Region};
use dynoxide::Database;
use tokio::net::TcpListener;

use crate::in_process;

/// The name of the table in an embedded engine.
pub const TABLE: &str = "countersign";

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Another process has the folder.
    #[error("another countersign uses the data folder {0}")]
    InUse(PathBuf),
    /// The folder cannot be used.
    #[error("cannot use the data folder {folder}: {error}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The engine cannot use its file, or make its table.
    #[error("cannot open the database: {0}")]
    Database(String),
}

/// A running engine. The data folder is locked for as long as this lives.
pub struct Engine {
    database: Database,
    client: Client,
    _lock: Option<File>,
}

impl Engine {
    /// An engine that forgets everything.
    ///
    /// # Errors
    /// [`EngineError::Database`].
    pub async fn memory() -> Result<Self, EngineError> {
        Self::start(Database::memory().map_err(database)?, None).await
    }

    /// An engine on the files of `folder`, which is made if it is not there and belongs to this process from now on.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub async fn open(folder: &Path) -> Result<Self, EngineError> {
        let in_folder = |error| EngineError::Folder { folder: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(in_folder)?;
        let lock = File::create(folder.join("lock")).map_err(in_folder)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(EngineError::InUse(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(in_folder(error)),
        }
        let file = folder.join("countersign.db");
        let file = file.to_str().ok_or_else(|| EngineError::Database("the path is not UTF-8".into()))?;
        Self::start(Database::new(file).map_err(database)?, Some(lock)).await
    }

    async fn start(database: Database, lock: Option<File>) -> Result<Self, EngineError> {
        // No socket: a port would let every process and every web page on this machine write decisions.
        let config =
            config().endpoint_url("http://engine.invalid").http_client(in_process::client(&database));
        let client = Client::from_conf(config.build());
        countersign_store::schema::ensure_table(&client, TABLE).await.map_err(EngineError::Database)?;
        Ok(Self { database, client, _lock: lock })
    }

    /// A client of this engine that needs no socket.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// What collects this engine's garbage.
    pub fn garbage(&self) -> Garbage {
        Garbage(self.database.clone())
    }

    /// Serves the engine over HTTP on a loopback port, for tests whose client is another process. Anybody on this
    /// machine may write through that port: the binary never opens one.
    ///
    /// # Errors
    /// Where no loopback port is to be had.
    pub async fn listen(&self) -> io::Result<(SocketAddr, impl Future<Output = ()> + Send + use<>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok((address, dynoxide::server::serve_on(listener, self.database.clone())))
    }
}

/// Rows past their TTL. The engine does not remove them by itself.
#[derive(Clone)]
pub struct Garbage(Database);

impl Garbage {
    /// Removes them; how many went.
    ///
    /// # Errors
    /// [`EngineError::Database`].
    pub async fn collect(&self) -> Result<usize, EngineError> {
        let engine = self.0.clone();
        let swept = tokio::task::spawn_blocking(move || engine.sweep_ttl()).await;
        swept.map_err(|error| EngineError::Database(error.to_string()))?.map_err(database)
    }
}

/// A client of an engine that listens at `address`.
pub fn client_at(address: SocketAddr) -> Client {
    Client::from_conf(config().endpoint_url(format!("http://{address}")).build())
}

fn config() -> Builder {
    let limits = TimeoutConfig::builder()
        .operation_attempt_timeout(Duration::from_secs(5))
        .operation_timeout(Duration::from_secs(10));
    Builder::new()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("local"))
        .credentials_provider(Credentials::new("local", "local", None, None, "embedded"))
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .timeout_config(limits.build())
}

fn database(error: dynoxide::DynoxideError) -> EngineError {
    EngineError::Database(error.to_string())
}
