//! JSON in and out, on fixed buffers.
