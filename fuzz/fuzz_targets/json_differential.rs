//! We and serde_json must accept the same texts and see the same values in them.
#![no_main]

#[path = "../../protocol-core/tests/json_oracle/mod.rs"]
mod json_oracle;

libfuzzer_sys::fuzz_target!(|text: &[u8]| json_oracle::agrees_with_serde_json(text));
