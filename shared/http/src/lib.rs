//! countersign-http
