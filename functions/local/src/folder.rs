//! Where data lies: a folder that is this process's alone, or memory.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_app::ports::Entropy;
use countersign_core::id::TenantId;
use countersign_embedded::engine::Engine;

use crate::credentials::Credentials;
use crate::error::StartError;
use crate::files::make_folder;

/// Database and secrets.
pub(crate) struct Data {
    /// The database. The folder is locked for as long as this lives.
    pub(crate) engine: Engine,
    /// The secrets.
    pub(crate) credentials: Credentials,
    /// The folder; `None` in memory.
    pub(crate) folder: Option<PathBuf>,
}

impl Data {
    /// Opens `folder`, making what is missing; without one, data that this process forgets.
    pub(crate) async fn open(
        folder: Option<&Path>,
        tenant: TenantId,
        entropy: &(dyn Entropy + 'static),
    ) -> Result<Self, StartError> {
        let Some(folder) = folder else {
            let credentials = Credentials::in_memory(tenant, entropy)?;
            let engine = Engine::memory().await;
            let engine = engine.map_err(|error| StartError::of_engine(error, Path::new("memory")))?;
            return Ok(Self { engine, credentials, folder: None });
        };
        make(folder)?;
        // The lock first: two first starts at once must not both make keys.
        let engine = Engine::open(folder).await.map_err(|error| StartError::of_engine(error, folder))?;
        let credentials = Credentials::open(folder, tenant, entropy)?;
        Ok(Self { engine, credentials, folder: Some(folder.to_owned()) })
    }

    /// The folder that mail is kept in.
    pub(crate) fn outbox(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join("outbox"))
    }
}

fn make(folder: &Path) -> Result<(), StartError> {
    let is_new = !folder.exists();
    let made = make_folder(folder).and_then(|()| {
        // It usually lies in a project: its keys must not end up in that project's history.
        if is_new { fs::write(folder.join(".gitignore"), "*\n") } else { Ok(()) }
    });
    made.map_err(|error| StartError::Folder { folder: folder.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use countersign_testkit::entropy::SeededEntropy;

    use super::*;

    async fn open(folder: &Path) -> Result<Data, StartError> {
        Data::open(Some(folder), "demo".parse().unwrap(), &SeededEntropy::new(1)).await
    }

    #[tokio::test]
    async fn a_new_folder_is_its_owners_and_no_part_of_a_repository() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b");
        let data = open(&folder).await.unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), "*\n");
        assert_eq!(data.outbox(), Some(folder.join("outbox")));
    }

    #[tokio::test]
    async fn a_folder_belongs_to_one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path()).await.unwrap();
        assert!(matches!(open(folder.path()).await, Err(StartError::FolderInUse(_))));
        drop(first);
        assert!(open(folder.path()).await.is_ok());
    }

    #[tokio::test]
    async fn a_file_in_the_way_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "x").unwrap();
        for folder in [file.clone(), file.join("below")] {
            let error = open(&folder).await.err().unwrap();
            assert!(matches!(error, StartError::Folder { .. }), "{error}");
            assert!(error.to_string().contains("a file is in the way"), "{error}");
        }
    }
}
