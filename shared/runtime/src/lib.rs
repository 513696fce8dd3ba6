//! countersign-runtime
