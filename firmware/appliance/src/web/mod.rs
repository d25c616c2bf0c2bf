//! The page, and what agents read: the files of `web/` and the page of every game, as `build.rs` packed them. Each is in flash
//! once. The page is zipped and sent like that; what agents read is one grammar. For whoever takes neither as it is, they are
//! unpacked while they are sent, piece by piece, in the buffer they leave from.
//!
//! ```text
//! grammar.rs   reads what agents read
//! inflate.rs   unpacks the page
//! ```

mod grammar;
mod inflate;

use core::mem;

use embedded_io_async::Write;
use heapless::Vec;
use protocol_core::json::{Full, Sink};

use crate::clock::Clock;
use crate::guard::Host;
use crate::http::{Answer, Request, Responder, WriteError};
use crate::turns::Turns;
use grammar::{Grammar, Reading};
use inflate::{Code, Codes, Inflate};

include!(concat!(env!("OUT_DIR"), "/web.rs"));

/// The page runs nothing but its own scripts, none of them inline, and talks to nobody but the box.
const SECURITY: (&str, &str) = (
    "Content-Security-Policy",
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);

/// What is unpacked of a file of the page before others have a turn: on a board some 3 ms.
const STEP: usize = 1024;

/// One file.
pub(crate) struct File {
    path: &'static str,
    kind: &'static str,
    /// Another one for another content.
    tag: &'static str,
    body: Body,
}

/// What is in a file.
enum Body {
    /// For browsers: zipped, with the bit at which its first symbol is. It has so many bytes unpacked.
    Page { zipped: &'static [u8], first: usize, length: usize },
    /// For agents: these symbols of the [grammar](GRAMMAR). It has so many bytes, and mentions the box's address so often beside
    /// them.
    Manual { begin: u32, end: u32, length: usize, addresses: usize },
}

/// How a file is sent.
enum Form {
    /// Whoever asks has it already.
    Known,
    Zipped(&'static [u8]),
    Unpacked(Inflate<'static>, usize),
    Read(Reading, usize),
}

/// The file at a path. The page of a game is also where MoltGame looks for it: at `/games/`.
pub(crate) fn find(path: &str) -> Option<&'static File> {
    let path = if path == "/index.html" { "/" } else { path };
    let is_it = |file: &&File| match path.strip_prefix("/games/") {
        Some(game) => file.path.strip_prefix("/skill/") == Some(game),
        None => file.path == path,
    };
    FILES.iter().find(is_it)
}

impl File {
    /// Sends it; to whoever has it already, only that it is the same. `host` is where the box was asked: what agents read names
    /// it as the box's address. What does not fit the buffer takes turns with other long answers.
    ///
    /// A file that must be unpacked and has no room for that behind its request is left in `crowded`, and not sent: see
    /// [`send_unpacked`](Self::send_unpacked).
    pub fn send<'a, S: Write, C: Clock>(
        &'static self,
        request: &Request<'_>,
        host: Option<Host<'a>>,
        responder: Responder<'a, S, C>,
        turns: &'a Turns,
        crowded: &mut Option<&'static File>,
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        let address = host.map_or([ADDRESS, ""], |Host { name, port }| [name, port]);
        let is_known = request.header("if-none-match").is_some_and(|tags| tags.contains(self.tag));
        let is_zipped = request.header("accept-encoding").is_some_and(takes_gzip);
        let form = if is_known { Form::Known } else { self.form(is_zipped, address) };
        let is_head_only = responder.is_head_only();
        let is_crowded = matches!(form, Form::Unpacked(..)) && responder.room() < WINDOW && !is_head_only;
        if is_crowded {
            *crowded = Some(self);
        }
        let mut answer = (!is_crowded).then(|| self.begin(&form, responder));
        let mut form = if is_crowded || is_head_only { Form::Known } else { form };
        // What decides is over: the future keeps what it sends.
        async move {
            let Some(answer) = &mut answer else { return Ok(()) };
            let answer = answer.as_mut().map_err(|error| *error)?;
            match &mut form {
                Form::Known => {}
                Form::Zipped(zipped) => answer.write_all(zipped).await?,
                Form::Unpacked(file, _) => unpack(file, answer, turns).await?,
                Form::Read(text, _) => {
                    while !read(text, address, answer)? {
                        turns.next().await;
                        answer.flush().await?;
                    }
                }
            }
            answer.finish().await
        }
    }

    /// Sends it unpacked. The responder has room for [`WINDOW`] bytes.
    pub fn send_unpacked<S: Write, C: Clock>(
        &'static self,
        responder: Responder<'_, S, C>,
        turns: &Turns,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let form = self.form(false, [ADDRESS, ""]);
            let mut answer = self.begin(&form, responder)?;
            if let Form::Unpacked(mut file, _) = form {
                unpack(&mut file, &mut answer, turns).await?;
            }
            answer.finish().await
        }
    }

    /// Writes it into an answer that has more than that. Only of what agents read.
    pub fn write(&self, host: Option<Host<'_>>, sink: &mut dyn Sink) -> Result<(), Full> {
        let address = host.map_or([ADDRESS, ""], |Host { name, port }| [name, port]);
        let Body::Manual { begin, end, .. } = self.body else { return Err(Full) };
        let (mut text, mut piece) = (Reading::new(begin, end), [0; 64]);
        loop {
            let written = text.read(&GRAMMAR, address, &mut piece);
            sink.put(piece.get(..written).unwrap_or_default())?;
            if written < piece.len() {
                return Ok(());
            }
        }
    }

    fn form(&self, is_zipped: bool, address: [&str; 2]) -> Form {
        match self.body {
            Body::Page { zipped, .. } if is_zipped => Form::Zipped(zipped),
            Body::Page { zipped, first, length } => Form::Unpacked(Inflate::new(zipped, first), length),
            Body::Manual { begin, end, length, addresses } => {
                let said = address.iter().map(|part| part.len()).sum::<usize>();
                Form::Read(Reading::new(begin, end), length.saturating_add(addresses.saturating_mul(said)))
            }
        }
    }

    /// The head of the answer. Lengths are known without unpacking anything.
    fn begin<'a, S: Write, C: Clock>(
        &self,
        form: &Form,
        responder: Responder<'a, S, C>,
    ) -> Result<Answer<'a, S, C>, WriteError> {
        let mut headers =
            Vec::<_, 5>::from_array([("Cache-Control", "no-cache"), ("ETag", self.tag), ("Vary", "Accept-Encoding")]);
        // There is room for these two.
        let _ = headers.extend_from_slice(if self.kind.starts_with("text/html") { &[SECURITY] } else { &[] });
        let (status, length) = match form {
            Form::Known => (304, 0),
            Form::Zipped(zipped) => {
                let _ = headers.push(("Content-Encoding", "gzip"));
                (200, zipped.len())
            }
            Form::Unpacked(_, length) | Form::Read(_, length) => (200, *length),
        };
        responder.begin(status, self.kind, Some(length), &headers)
    }
}

/// Adds the next piece of a text to an answer. Says whether it was the last.
fn read<S: Write, C: Clock>(
    text: &mut Reading,
    address: [&str; 2],
    answer: &mut Answer<'_, S, C>,
) -> Result<bool, WriteError> {
    let room = answer.room();
    let size = room.len();
    let written = text.read(&GRAMMAR, address, room);
    answer.wrote(written)?;
    Ok(written < size)
}

/// Sends a file unpacked, but for what is in the buffer in the end.
fn unpack<S: Write, C: Clock>(
    file: &mut Inflate<'_>,
    answer: &mut Answer<'_, S, C>,
    turns: &Turns,
) -> impl Future<Output = Result<(), WriteError>> {
    async move {
        // The whole buffer is the window: the head leaves first, and what fills it before it is filled again.
        answer.flush().await?;
        let mut filled = 0_usize;
        loop {
            let window = answer.room();
            let size = window.len();
            if size < WINDOW {
                return Err(WriteError::BadHead);
            }
            let part = filled..size.min(filled.saturating_add(STEP));
            let written = file.unpack(&CODES, window, part.clone());
            filled = filled.saturating_add(written);
            if written < part.len() {
                return answer.wrote(filled);
            }
            turns.next().await;
            if filled == size {
                answer.wrote(mem::take(&mut filled))?;
                answer.flush().await?;
            }
        }
    }
}

/// What stands from a bit on, the first bit lowest: 25 bits or more. None at the end, where whoever packed left some bytes that
/// nobody reads.
fn bits_at(bytes: &[u8], bit: usize) -> Option<u32> {
    let four = bytes.get(bit / 8..)?.first_chunk()?;
    Some(u32::from_le_bytes(*four) >> (bit % 8))
}

/// Whether `gzip` is in the list, and not with a weight of nothing.
fn takes_gzip(list: &str) -> bool {
    list.split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        matches!(name.trim(), "gzip" | "*") && weight.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    include!(concat!(env!("OUT_DIR"), "/texts.rs"));

    /// What the page may take on the wire, all its files together.
    const BUDGET: usize = 64 * 1024;

    #[test]
    fn the_page_fits_its_budget_on_the_wire() {
        let zipped = FILES.iter().filter_map(|file| match file.body {
            Body::Page { zipped, .. } => Some(zipped.len()),
            Body::Manual { .. } => None,
        });
        let total: usize = zipped.sum();
        assert!(total > 0 && total <= BUDGET, "{total} bytes");
    }

    #[test]
    fn all_texts_together_are_smaller_than_a_third() {
        let zipped = |file: &File| match file.body {
            Body::Page { zipped, .. } => zipped.len(),
            Body::Manual { .. } => 0,
        };
        let packed = size_of_val(GRAMMAR.rules) + GRAMMAR.symbols.len() + FILES.iter().map(zipped).sum::<usize>();
        let plain: usize = TEXTS.iter().map(|(_, text)| text.len()).sum();
        assert!(packed < plain / 3, "{packed} of {plain} bytes");
    }

    #[test]
    fn every_text_is_read_as_it_was_written() {
        assert_eq!(FILES.len(), TEXTS.len());
        for (path, text) in TEXTS {
            let file = find(path).unwrap();
            for size in [WINDOW, WINDOW + 656, 16 * 1024] {
                let (mut read, mut room) = (vec![], vec![0; size]);
                let mut form = file.form(false, [ADDRESS, ""]);
                loop {
                    let written = match &mut form {
                        Form::Unpacked(file, _) => file.unpack(&CODES, &mut room, 0..size),
                        Form::Read(text, _) => text.read(&GRAMMAR, [ADDRESS, ""], &mut room),
                        Form::Known | Form::Zipped(_) => unreachable!("neither was asked for"),
                    };
                    read.extend_from_slice(&room[..written]);
                    if written < size {
                        break;
                    }
                }
                assert!(read == text.as_bytes(), "{path}");
            }
        }
    }

    #[test]
    fn every_file_is_found_by_its_path_and_the_page_by_two() {
        for file in FILES {
            assert_eq!(find(file.path).map(|found| found.tag), Some(file.tag));
        }
        assert_eq!(find("/index.html").map(|page| page.path), Some("/"));
        assert!(find("/skill.md").is_some() && find("/.well-known/agent.json").is_some());
        assert!(find("/..").is_none() && find("").is_none());
    }

    #[test]
    fn who_takes_gzip_says_so() {
        for list in ["gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "*", "deflate, gzip;q=1.0"] {
            assert!(takes_gzip(list), "{list}");
        }
        for list in ["", "identity", "gzip;q=0", "gzip; q=0.0", "br", "xgzip"] {
            assert!(!takes_gzip(list), "{list}");
        }
    }
}
