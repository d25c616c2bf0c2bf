//! No accessor of an accepted text panics or contradicts another.
#![no_main]

#[path = "../../protocol-core/tests/json_oracle/mod.rs"]
mod json_oracle;

libfuzzer_sys::fuzz_target!(|text: &[u8]| json_oracle::walks(text));
