//! The binaries that AWS would run, built as the tests were.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where cargo puts the binaries of the build that this program belongs to.
pub fn binary_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a program has a path");
    // Tests and benches lie in `deps` below it.
    program.ancestors().nth(2).expect("a folder above deps").to_owned()
}

/// The folder of the binaries, which are up to date: the first call of a process builds what is not. After
/// `cargo test --workspace` that is little, for it selects the same packages and so the same features.
pub fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = binary_folder();
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--workspace", "--bins", "--offline", "--locked", "--quiet"]);
        cargo.args(["--manifest-path", manifest, "--target-dir"]);
        cargo.arg(folder.parent().expect("a target folder"));
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        let built = cargo.status().expect("cargo starts");
        assert!(built.success(), "the functions do not build: {built}");
        folder
    })
}
