//! countersign
fn main() {}
