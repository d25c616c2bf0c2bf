//! HTTP/1.1, both directions.
