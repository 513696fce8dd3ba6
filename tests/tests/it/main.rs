//! One test binary: linking the engine and the SDK once is what keeps the suite quick.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod at_rest;
#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod crash_points;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod events;
mod faults;
#[cfg(test)]
mod http;
#[cfg(test)]
mod inbound;
#[cfg(test)]
mod jostling;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod model;
#[cfg(test)]
mod mutants;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod pages;
mod passkeys;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod quotas;
#[cfg(test)]
mod racing;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod template;
#[cfg(test)]
mod tokens;
