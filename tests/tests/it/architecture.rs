//! Who may depend on whom, read from `cargo metadata`. A crate exists to forbid a dependency: this is the forbidding.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

fn metadata() -> Metadata {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc tells its host");
    let text = String::from_utf8(rustc.stdout).expect("text");
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host triple").to_owned();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let options = ["--offline", "--locked", "--filter-platform", &host].map(str::to_owned);
    MetadataCommand::new().manifest_path(root).other_options(options).exec().expect("cargo metadata")
}

/// Direct normal dependencies of every package, by id.
fn graph(metadata: &Metadata) -> BTreeMap<&PackageId, Vec<&PackageId>> {
    let nodes = &metadata.resolve.as_ref().expect("a resolved graph").nodes;
    let is_normal =
        |dep: &&cargo_metadata::NodeDep| dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
    nodes
        .iter()
        .map(|node| (&node.id, node.deps.iter().filter(is_normal).map(|dep| &dep.pkg).collect()))
        .collect()
}

fn name<'a>(metadata: &'a Metadata, id: &PackageId) -> &'a str {
    metadata.packages.iter().find(|package| package.id == *id).map_or("", |package| package.name.as_str())
}

/// All that `from` links, itself left out.
fn closure<'a>(metadata: &'a Metadata, from: &'a PackageId) -> BTreeSet<&'a PackageId> {
    let graph = graph(metadata);
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(id) = open.pop() {
        for next in &graph[id] {
            if seen.insert(*next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Names of all that the package `from` links, itself left out.
fn reaches<'a>(metadata: &'a Metadata, from: &str) -> BTreeSet<&'a str> {
    let packages = metadata.workspace_packages();
    let start = packages.iter().find(|package| package.name.as_str() == from).expect("a package of ours");
    closure(metadata, &start.id).iter().map(|id| name(metadata, id)).collect()
}

/// Names of what each workspace package depends on directly, in the normal build.
fn direct(metadata: &Metadata) -> BTreeMap<&str, BTreeSet<&str>> {
    let graph = graph(metadata);
    let of = |id: &PackageId| graph[id].iter().map(|dep| name(metadata, dep)).collect();
    metadata.workspace_packages().iter().map(|package| (package.name.as_str(), of(&package.id))).collect()
}

#[test]
fn each_crate_depends_on_those_below_it_and_no_others() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("countersign-core", [].as_slice()),
        ("countersign-wire", &["core"]),
        ("countersign-identity", &["core"]),
        ("countersign-outbound", &[]),
        ("countersign-app", &["core", "identity"]),
        ("countersign-store", &["app", "core", "identity"]),
        ("countersign-channels", &["app", "core", "wire"]),
        ("countersign-http", &["app", "core", "wire"]),
        ("countersign-embedded", &["app", "core", "store"]),
        ("countersign-runtime", &["app", "core", "http", "identity", "outbound", "store", "wire"]),
        (
            "countersign-testkit",
            &["app", "channels", "core", "embedded", "http", "identity", "store", "wire"],
        ),
    ]);
    let metadata = metadata();
    for (package, dependencies) in direct(&metadata) {
        let Some(allowed) = allowed.get(package) else { continue };
        let ours = dependencies.iter().filter_map(|dependency| dependency.strip_prefix("countersign-"));
        for dependency in ours {
            assert!(allowed.contains(&dependency), "{package} must not depend on countersign-{dependency}");
        }
    }
}

#[track_caller]
fn links_none_of(package: &str, forbidden: &[&str]) {
    let metadata = metadata();
    let linked = reaches(&metadata, package);
    for one in linked {
        let is_forbidden = forbidden.iter().any(|name| match name.strip_suffix('*') {
            Some(prefix) => one.starts_with(prefix),
            None => one == *name,
        });
        assert!(!is_forbidden, "{package} links {one}");
    }
}

#[test]
fn core_is_pure() {
    links_none_of(
        "countersign-core",
        &["tokio", "axum*", "aws-sdk*", "aws-smithy*", "hyper*", "reqwest", "async-trait", "getrandom"],
    );
}

#[test]
fn the_use_cases_name_no_vendor() {
    links_none_of(
        "countersign-app",
        &["aws-sdk*", "aws-config", "aws-smithy*", "axum*", "dynoxide-rs", "lettre", "hyper*", "reqwest"],
    );
}

#[test]
fn http_cannot_see_the_store() {
    links_none_of(
        "countersign-http",
        &["countersign-store", "aws-sdk*", "aws-config", "aws-smithy*", "dynoxide-rs", "lettre"],
    );
}

#[test]
fn nothing_that_ships_to_lambda_links_the_embedded_engine() {
    links_none_of("countersign-runtime", &["dynoxide-rs", "countersign-embedded", "rusqlite"]);
}

#[test]
fn what_a_request_starts_links_nothing_that_sends() {
    for function in ["create", "poll", "respond", "manage", "pages"] {
        links_none_of(
            &format!("countersign-{function}"),
            &["countersign-channels", "lettre", "aws-sdk-sns", "aws-sdk-ses*", "aws-sdk-sqs", "dynoxide-rs"],
        );
    }
    links_none_of("countersign-sweep", &["dynoxide-rs", "countersign-embedded"]);
}

#[test]
fn only_the_embedded_crate_names_the_engine_and_only_the_binary_and_the_tests_use_it() {
    let metadata = metadata();
    for (package, dependencies) in direct(&metadata) {
        if dependencies.contains("dynoxide-rs") {
            assert_eq!(package, "countersign-embedded");
        }
        if dependencies.contains("countersign-embedded") {
            let may = ["countersign", "countersign-testkit", "countersign-tests"];
            assert!(may.contains(&package), "{package} must not use the embedded engine");
        }
    }
}

#[test]
fn only_the_runtime_takes_randomness_from_the_system() {
    let metadata = metadata();
    for (package, dependencies) in direct(&metadata) {
        let takes = dependencies.contains("getrandom") || dependencies.contains("rand");
        assert!(!takes || package == "countersign-runtime", "{package} takes randomness of its own");
    }
}

#[test]
fn only_outbound_calls_an_address_that_somebody_else_named() {
    let metadata = metadata();
    let clients = ["hyper", "hyper-util", "reqwest", "tokio-rustls", "ureq"];
    for (package, dependencies) in direct(&metadata) {
        let client = clients.iter().find(|one| dependencies.contains(**one));
        let may = ["countersign-outbound", "countersign-testkit", "countersign-tests"].contains(&package);
        assert!(may || client.is_none(), "{package} links {client:?}: it would call without the guard");
    }
}

#[test]
fn no_function_depends_on_another() {
    let metadata = metadata();
    let functions: BTreeSet<_> = metadata
        .workspace_packages()
        .iter()
        .filter(|package| package.manifest_path.as_str().contains("/functions/"))
        .map(|package| package.name.as_str())
        .collect();
    for (package, dependencies) in direct(&metadata) {
        let crossing = functions.contains(package) && dependencies.iter().any(|one| functions.contains(one));
        assert!(!crossing, "{package} depends on another function");
    }
}

/// Names of what the workspace builds, one entry per version: `cargo tree` resolves features as a build does.
fn built() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let options = ["--workspace", "--edges", "normal", "--prefix", "none", "--offline", "--locked"];
    let tree = Command::new(env!("CARGO")).args(["tree", "--manifest-path", root]).args(options).output();
    let text = String::from_utf8(tree.expect("cargo tree").stdout).expect("text");
    let package = |line: &str| Some(line.split(' ').take(2).collect::<Vec<_>>().join(" "));
    let packages: BTreeSet<String> = text.lines().filter_map(package).collect();
    assert!(packages.len() > 100, "cargo tree has told of {} packages", packages.len());
    packages.iter().filter_map(|package| package.split(' ').next().map(str::to_owned)).collect()
}

#[test]
fn there_is_one_tls_stack_and_one_crypto_backend() {
    let linked = built();
    for forbidden in ["ring", "openssl", "openssl-sys", "native-tls", "boring", "reqwest"] {
        assert!(!linked.iter().any(|name| name == forbidden), "{forbidden} is in the build");
    }
    for single in ["rustls", "aws-lc-rs", "hyper", "axum", "sha2", "hmac"] {
        assert_eq!(linked.iter().filter(|name| *name == single).count(), 1, "versions of {single}");
    }
}

#[test]
fn domain_types_have_no_serialize() {
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/core/src");
    let mut open = vec![std::path::PathBuf::from(core)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let derives = text.lines().filter(|line| line.trim_start().starts_with("#[derive"));
            for line in derives {
                assert!(!line.contains("Serialize"), "{}: {line}", path.display());
            }
        }
    }
}
