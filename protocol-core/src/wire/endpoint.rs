//! How an agent is reached: at an address, where it wants to be called, or on a connection that it makes.

use core::fmt;
use core::net::IpAddr;

use heapless::String;

use crate::json::Str;

/// The longest address an agent may give, in bytes.
pub const MAX_BYTES: usize = 96;

/// An address to call: where it leads and what the agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The machine.
    pub ip: IpAddr,
    /// The port.
    pub port: u16,
    /// As the agent wrote it. Others are shown exactly this.
    pub given: String<MAX_BYTES>,
    /// Where in `given` the path begins; past its end where there is none.
    path: u8,
    /// Whether the host in `given` was not an address the box can use, and that of the sender was taken.
    pub replaced: bool,
}

impl Endpoint {
    /// Reads `http://host[:port][/path]`. A host that only means something on the agent's own computer (`localhost`,
    /// a loopback or unspecified address) or that would need a name server is replaced with the address the message
    /// came from.
    pub fn read(text: Str<'_>, from: IpAddr) -> Option<Endpoint> {
        Self::given(text.text().ok()?, from)
    }

    /// The same for a text that is not JSON.
    pub fn given(given: String<MAX_BYTES>, from: IpAddr) -> Option<Endpoint> {
        // "mcp://" is the legacy section's spelling of the same thing.
        let rest = given.strip_prefix("http://").or_else(|| given.strip_prefix("mcp://"))?;
        let start = given.len() - rest.len();
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = rest.get(..end)?;
        let (host, port) = match authority.strip_prefix('[') {
            Some(six) => {
                let (host, after) = six.split_once(']')?;
                (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = port.map_or(Some(80), |port| port.parse().ok()).filter(|&port| port != 0)?;
        let fits_a_head = |c: char| c.is_ascii_graphic();
        if host.is_empty() || host.contains('@') || !given.chars().all(fits_a_head) {
            return None;
        }
        let usable = host.parse::<IpAddr>().ok().filter(|ip| !ip.is_loopback() && !ip.is_unspecified());
        let path = u8::try_from(start + end).ok()?;
        // On the box's own computer such a host says the truth.
        let means_here = || host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback);
        let replaced = usable.is_none() && !(is_loopback(from) && means_here());
        Some(Endpoint { ip: usable.unwrap_or(from), port, path, replaced, given })
    }

    /// The path to call. `/mcp` where the agent gave none.
    pub fn path(&self) -> &str {
        match self.given.get(usize::from(self.path)..) {
            Some(path) if path.starts_with('/') => path.split('#').next().unwrap_or(path),
            _ => "/mcp",
        }
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// How an agent is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contact {
    /// The box calls it.
    Dial(Endpoint),
    /// It calls the box, from this machine, and is spoken to for as long as it holds the line.
    DialsIn(IpAddr),
}

impl Contact {
    /// The same from what [`Contact::given`] and [`Contact::ip`] say.
    pub fn restored(given: &str, ip: IpAddr) -> Option<Contact> {
        match given {
            "" => Some(Contact::DialsIn(ip)),
            given => Endpoint::given(String::try_from(given).ok()?, ip).map(Contact::Dial),
        }
    }

    /// As the agent wrote it; nothing where it dials in.
    pub fn given(&self) -> &str {
        match self {
            Contact::Dial(endpoint) => &endpoint.given,
            Contact::DialsIn(_) => "",
        }
    }

    /// The machine.
    pub fn ip(&self) -> IpAddr {
        match *self {
            Contact::Dial(Endpoint { ip, .. }) | Contact::DialsIn(ip) => ip,
        }
    }

    /// Where it is called.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Contact::Dial(endpoint) => Some(endpoint),
            Contact::DialsIn(_) => None,
        }
    }
}

/// Where calls go, or come from.
impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contact::Dial(endpoint) => endpoint.fmt(f),
            Contact::DialsIn(ip) => ip.fmt(f),
        }
    }
}

/// Where a contact really leads, written out.
#[derive(Clone, Copy, Debug)]
pub struct Url<'a>(pub &'a Contact);

impl fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Contact::Dial(endpoint) => write!(f, "http://{endpoint}{}", endpoint.path()),
            Contact::DialsIn(_) => f.write_str("dials in"),
        }
    }
}

/// The value of the `Host` header for a call.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ip {
            IpAddr::V4(ip) => write!(f, "{ip}:{}", self.port),
            IpAddr::V6(ip) => write!(f, "[{ip}]:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::net::Ipv4Addr;
    use std::{format, string::ToString};

    const FROM: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));

    fn read(text: &str) -> Option<Endpoint> {
        let quoted = format!("\"{text}\"");
        Endpoint::read(crate::json::parse(quoted.as_bytes()).unwrap().as_str().unwrap(), FROM)
    }

    #[test]
    fn a_host_that_means_the_agents_own_computer_is_replaced_by_the_sender() {
        for host in ["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "my-laptop.local"] {
            let endpoint = read(&format!("http://{host}:8101/mcp")).unwrap();
            assert_eq!((endpoint.ip, endpoint.port, endpoint.path()), (FROM, 8101, "/mcp"), "{host}");
            assert!(endpoint.replaced);
        }
        let endpoint = read("http://192.168.1.5:8101/a/b?c=d").unwrap();
        assert_eq!(endpoint.to_string(), "192.168.1.5:8101");
        assert_eq!(endpoint.path(), "/a/b?c=d");
        assert!(!endpoint.replaced);
    }

    #[test]
    fn localhost_is_right_where_the_agent_runs_on_the_boxs_own_computer() {
        for from in ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"] {
            let from = from.parse().unwrap();
            for host in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"] {
                let endpoint = Endpoint::given(String::try_from(&*format!("http://{host}:1/")).unwrap(), from).unwrap();
                assert_eq!((endpoint.ip, endpoint.replaced), (from, false), "{host} from {from}");
            }
            for host in ["0.0.0.0", "my-laptop.local"] {
                let endpoint = Endpoint::given(String::try_from(&*format!("http://{host}:1/")).unwrap(), from).unwrap();
                assert_eq!((endpoint.ip, endpoint.replaced), (from, true), "{host} from {from}");
            }
        }
    }

    #[test]
    fn a_missing_path_is_mcp_and_a_missing_port_is_80() {
        let endpoint = read("http://localhost:8101").unwrap();
        assert_eq!(endpoint.path(), "/mcp");
        assert_eq!(Url(&Contact::Dial(endpoint)).to_string(), "http://10.0.0.7:8101/mcp");
        assert_eq!(read("http://10.1.1.1/x").unwrap().port, 80);
        assert_eq!(read("http://[2001:db8::1]:99").unwrap().to_string(), "[2001:db8::1]:99");
    }

    #[test]
    fn a_contact_is_the_same_after_it_was_kept() {
        let dialled = Contact::Dial(read("http://localhost:8101/x").unwrap());
        for contact in [dialled, Contact::DialsIn(FROM)] {
            assert_eq!(Contact::restored(contact.given(), contact.ip()), Some(contact));
        }
    }

    #[test]
    fn what_cannot_be_called_is_refused() {
        for bad in [
            "",
            "localhost:8101",
            "https://localhost:8101/mcp",
            "ftp://x",
            "http://",
            "http://:80/",
            "http://h:0/",
            "http://h:99999/",
            "http://h:x/",
            "http://a b/",
            "http://u@h/",
            "http://[::1",
            "http://h/\\r\\nX: y",
        ] {
            assert!(read(bad).is_none(), "{bad}");
        }
        assert!(read(&format!("http://h/{}", "x".repeat(200))).is_none());
    }
}
