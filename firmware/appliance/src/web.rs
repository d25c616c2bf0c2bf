//! The page, and what agents read: the files of `web/` and the page of every game, as `build.rs` made them. The page is in
//! flash twice, as it is and compressed, so that nobody waits for a board to compress it; what agents read as it is.

use embedded_io_async::Write;
use heapless::Vec;

use crate::clock::Clock;
use crate::guard::Host;
use crate::http::{Request, Responder, WriteError};

include!(concat!(env!("OUT_DIR"), "/web.rs"));

/// The page runs nothing but its own scripts, none of them inline, and talks to nobody but the box.
const SECURITY: (&str, &str) = (
    "Content-Security-Policy",
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);

/// One file.
pub(crate) struct File {
    path: &'static str,
    kind: &'static str,
    /// Another one for another content.
    tag: &'static str,
    /// As it is. What several have in common is a part of its own, and in flash once.
    parts: &'static [&'static str],
    /// Compressed; empty where it is not.
    zipped: &'static [u8],
}

/// The file at a path.
pub(crate) fn find(path: &str) -> Option<&'static File> {
    let path = if path == "/index.html" { "/" } else { path };
    FILES.iter().find(|file| file.path == path)
}

impl File {
    /// Sends it; to whoever has it already, only that it is the same. `host` is where the box was asked: what is not
    /// compressed names it as the box's address.
    pub fn send<S: Write, C: Clock>(
        &self,
        request: Request<'_>,
        host: Option<Host<'_>>,
        responder: Responder<'_, S, C>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let spoken = move |part: &'static str| match host {
                Some(Host { name, port }) if part == ADDRESS => [name, port],
                _ => [part, ""],
            };
            let is_known = request.header("if-none-match").is_some_and(|tags| tags.contains(self.tag));
            let is_zipped = !self.zipped.is_empty() && request.header("accept-encoding").is_some_and(takes_gzip);
            let (status, zipped, parts) = match (is_known, is_zipped) {
                (true, _) => (304, &[][..], &[][..]),
                (false, true) => (200, self.zipped, &[][..]),
                (false, false) => (200, &[][..], self.parts),
            };
            let length = zipped.len() + parts.iter().flat_map(|part| spoken(part)).map(str::len).sum::<usize>();
            let mut headers = Vec::<_, 5>::from_array([
                ("Cache-Control", "no-cache"),
                ("ETag", self.tag),
                ("Vary", "Accept-Encoding"),
            ]);
            // There is room for these two.
            let _ = headers.extend_from_slice(if self.kind.starts_with("text/html") { &[SECURITY] } else { &[] });
            let _ =
                headers.extend_from_slice(if is_zipped && !is_known { &[("Content-Encoding", "gzip")] } else { &[] });
            let mut answer = responder.begin(status, self.kind, Some(length), &headers)?;
            answer.write_all(zipped).await?;
            for part in parts.iter().flat_map(|part| spoken(part)) {
                answer.write_all(part.as_bytes()).await?;
            }
            answer.finish().await
        }
    }
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

    /// What the page may take on the wire, all its files together.
    const BUDGET: usize = 60 * 1024;

    #[test]
    fn the_page_fits_its_budget_on_the_wire() {
        let is_of_page = |file: &&File| !file.kind.starts_with("text/markdown");
        let total: usize = FILES.iter().filter(is_of_page).map(|file| file.zipped.len()).sum();
        assert!(total <= BUDGET, "{total} bytes");
    }

    #[test]
    fn every_file_is_found_by_its_path_and_the_page_by_two() {
        for file in FILES {
            assert_eq!(find(file.path).map(|found| found.tag), Some(file.tag));
            let plain: usize = file.parts.iter().map(|part| part.len()).sum();
            assert!(plain > 0 && file.zipped.len() < plain, "{}", file.path);
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
