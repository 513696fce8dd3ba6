//! Files that hold secrets: whole or not there, for their owner alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

const OWNER_ONLY: u32 = 0o600;
const OWNER_ONLY_FOLDER: u32 = 0o700;

/// Writes `bytes` to `path` so that a reader, or whoever comes after a crash, finds all of it or what was there before.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "it names no file"))?;
    let half = path.with_file_name(format!(".{}.tmp", name.to_string_lossy()));
    remove(&half)?;
    let written = write_through(&half, bytes).and_then(|()| fs::rename(&half, path));
    if written.is_err() {
        // Gives a full disk back what fitted; the error that counts is the one before.
        drop(fs::remove_file(&half));
    }
    written?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// Synced before it gets its name: a file system may otherwise keep the name and lose the content.
fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // New, so that nobody can have put a link there.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Removes `path` if it is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a folder for its owner alone, unless there is one.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWNER_ONLY_FOLDER).create(path)
}

/// Takes a file away from everybody but its owner; whether that was needed.
pub(crate) fn make_private(path: &Path) -> io::Result<bool> {
    let mut permissions = fs::metadata(path)?.permissions();
    let open = permissions.mode() & 0o077 != 0;
    if open {
        permissions.set_mode(OWNER_ONLY);
        fs::set_permissions(path, permissions)?;
    }
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_whole_and_is_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.json");
        fs::write(folder.path().join(".secrets.json.tmp"), "half of an earlier try").unwrap();
        for text in ["first", "second"] {
            write_private(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(mode(&path), 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written is left");
    }

    #[test]
    fn a_link_in_the_way_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("ready.json"), folder.path().join("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, folder.path().join(".ready.json.tmp")).unwrap();
        write_private(&path, b"secret").unwrap();
        assert!(!elsewhere.exists());
    }

    #[test]
    fn a_path_without_a_name_or_a_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_private(Path::new("/"), b"x").is_err());
        assert!(write_private(&folder.path().join("no/such/folder"), b"x").is_err());
    }

    #[test]
    fn an_open_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(make_private(&path).unwrap());
        assert_eq!(mode(&path), 0o600);
        assert!(!make_private(&path).unwrap());
    }
}
