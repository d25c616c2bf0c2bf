//! How an agent is reached: at an address, where it wants to be called, or on a connection that it makes.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use heapless::String;

use crate::json::Str;

/// The longest address an agent may give, in bytes.
pub const MAX_BYTES: usize = 96;

/// An address to call: where it leads and what the agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The machine it was registered from.
    from: IpAddr,
    /// The port.
    pub port: u16,
    /// As the agent wrote it. Others are shown exactly this.
    pub given: String<MAX_BYTES>,
    /// Where in `given` the path begins; past its end where there is none.
    path: u8,
    /// What the host in `given` means.
    pub host: Host,
}

/// What the host of an endpoint means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The machine it was registered from.
    Sender,
    /// Only something on the agent's own computer: `localhost`, a loopback or unspecified address. Who it was registered
    /// from is called.
    Local,
    /// Another machine, or a name that would need a name server. Who it was registered from is called.
    Replaced,
    /// Another machine, by its address, and that is called: the owner allows it.
    Elsewhere,
}

impl Endpoint {
    /// Reads `http://host[:port][/path]`, registered from `from`. Another host than that is called only where
    /// `other_hosts` are allowed, and by its address.
    pub fn read(text: Str<'_>, from: IpAddr, other_hosts: bool) -> Option<Endpoint> {
        Self::given(text.text().ok()?, from, other_hosts)
    }

    /// The same for a text that is not JSON.
    pub fn given(given: String<MAX_BYTES>, from: IpAddr, other_hosts: bool) -> Option<Endpoint> {
        let from = from.to_canonical();
        let (host, port, path) = split(&given)?;
        let port = port.map_or(Some(80), |port| port.parse().ok()).filter(|&port| port != 0)?;
        let fits_a_head = |c: char| c.is_ascii_graphic();
        if host.is_empty() || host.contains('@') || !given.chars().all(fits_a_head) {
            return None;
        }
        let path = u8::try_from(given.len().checked_sub(path.len())?).ok()?;
        let host = match address(host) {
            Some(ip) if ip == from => Host::Sender,
            // On the box's own computer that says the truth.
            None if is_localhost(host) && from.is_loopback() => Host::Sender,
            Some(ip) if is_local(ip) => Host::Local,
            Some(_) if other_hosts => Host::Elsewhere,
            None if is_localhost(host) => Host::Local,
            _ => Host::Replaced,
        };
        Some(Endpoint { from, port, path, host, given })
    }

    /// Where the box is, by what it tells agents: `http://10.0.0.5:8000/mcp`.
    pub fn of_box(given: &str) -> Option<SocketAddr> {
        let (host, port, _) = split(given)?;
        Some(SocketAddr::new(address(host)?, port.map_or(Some(80), |port| port.parse().ok())?))
    }

    /// The machine to call.
    pub fn ip(&self) -> IpAddr {
        match self.host {
            Host::Sender | Host::Local | Host::Replaced => self.from,
            // It was read before.
            Host::Elsewhere => split(&self.given).and_then(|(host, ..)| address(host)).unwrap_or(self.from),
        }
    }

    /// The path to call. `/mcp` where the agent gave none.
    pub fn path(&self) -> &str {
        match self.given.get(usize::from(self.path)..) {
            Some(path) if path.starts_with('/') => path.split('#').next().unwrap_or(path),
            _ => "/mcp",
        }
    }
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
    /// The same from what [`Contact::given`], [`Contact::from`] and [`Contact::is_elsewhere`] say.
    pub fn restored(given: &str, from: IpAddr, is_elsewhere: bool) -> Option<Contact> {
        match given {
            "" => Some(Contact::DialsIn(from)),
            given => Endpoint::given(String::try_from(given).ok()?, from, is_elsewhere).map(Contact::Dial),
        }
    }

    /// As the agent wrote it; nothing where it dials in.
    pub fn given(&self) -> &str {
        match self {
            Contact::Dial(endpoint) => &endpoint.given,
            Contact::DialsIn(_) => "",
        }
    }

    /// The machine it was registered from: whoever speaks from there may speak for it.
    pub fn from(&self) -> IpAddr {
        match *self {
            Contact::Dial(Endpoint { from, .. }) | Contact::DialsIn(from) => from,
        }
    }

    /// The machine it is at: called, or calling.
    pub fn ip(&self) -> IpAddr {
        match self {
            Contact::Dial(endpoint) => endpoint.ip(),
            Contact::DialsIn(ip) => *ip,
        }
    }

    /// Whether another machine is called than it was registered from.
    pub fn is_elsewhere(&self) -> bool {
        self.endpoint().is_some_and(|endpoint| endpoint.host == Host::Elsewhere)
    }

    /// Whether this is the same agent's, as far as a contact can tell: from the same machine, in the same words.
    pub fn is_that_of(&self, other: &Contact) -> bool {
        self.from() == other.from() && self.given() == other.given()
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
        match self.ip() {
            IpAddr::V4(ip) => write!(f, "{ip}:{}", self.port),
            IpAddr::V6(ip) => write!(f, "[{ip}]:{}", self.port),
        }
    }
}

/// Host, port and path.
fn split(given: &str) -> Option<(&str, Option<&str>, &str)> {
    // "mcp://" is the legacy section's spelling of the same thing.
    let rest = given.strip_prefix("http://").or_else(|| given.strip_prefix("mcp://"))?;
    let (authority, path) = rest.split_at_checked(rest.find(['/', '?', '#']).unwrap_or(rest.len()))?;
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
    Some((host, port, path))
}

/// The address that a host is, in every spelling a system would take: also `127.1`, `0x7f.1`, `2130706433`, `0177.0.0.1`.
/// One that maps IPv4 into IPv6 is the IPv4 one.
fn address(host: &str) -> Option<IpAddr> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Some(ip.to_canonical());
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let (mut address, mut parts) = (0_u32, host.split('.').peekable());
    for (filled, left) in [(0, 24), (8, 16), (16, 8), (24, 0)] {
        let part = number(parts.next()?)?;
        // The last part fills whatever is left.
        let is_last = parts.peek().is_none();
        let most = if is_last { u32::MAX >> filled } else { 255 };
        if part > most {
            return None;
        }
        if is_last {
            return Some(IpAddr::V4(Ipv4Addr::from_bits(address | part)));
        }
        address |= part << left;
    }
    None
}

/// A part of an IPv4 address: decimal, octal with a 0 before it, or hexadecimal with 0x.
fn number(part: &str) -> Option<u32> {
    let hexadecimal = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
    let (digits, radix) = match (hexadecimal, part.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (part, 10),
    };
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, radix).ok() }
}

/// Whether an address only means something on the computer where it is used.
fn is_local(ip: IpAddr) -> bool {
    let is_local = |ip: Ipv4Addr| ip.is_loopback() || ip.octets().first() == Some(&0);
    match ip {
        IpAddr::V4(ip) => is_local(ip),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified() || ip.to_ipv4().is_some_and(is_local),
    }
}

/// Whether a host is the name of the computer where it is used.
fn is_localhost(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    host.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{format, string::ToString};

    const FROM: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));

    fn read_from(text: &str, from: IpAddr, other_hosts: bool) -> Option<Endpoint> {
        let quoted = format!("\"{text}\"");
        Endpoint::read(crate::json::parse(quoted.as_bytes()).unwrap().as_str().unwrap(), from, other_hosts)
    }

    fn read(text: &str) -> Option<Endpoint> {
        read_from(text, FROM, false)
    }

    #[test]
    fn a_host_that_means_the_agents_own_computer_is_the_sender_in_every_spelling() {
        for host in [
            "localhost",
            "LocalHost.",
            "a.localhost",
            "127.0.0.1",
            "127.0.0.1.",
            "127.255.0.9",
            "0.0.0.0",
            "0",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[::ffff:0.0.0.0]",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0X7F000001",
            "0177.0.0.1",
            "2130706433",
            "017700000001",
        ] {
            for other_hosts in [false, true] {
                let endpoint = read_from(&format!("http://{host}:8101/mcp"), FROM, other_hosts).unwrap();
                assert_eq!((endpoint.ip(), endpoint.port, endpoint.path()), (FROM, 8101, "/mcp"), "{host}");
                assert_eq!(endpoint.host, Host::Local, "{host}");
            }
        }
    }

    #[test]
    fn the_senders_own_address_is_the_sender_in_every_spelling() {
        for host in ["10.0.0.7", "10.7", "0xa000007", "167772167", "012.0.0.7", "[::ffff:10.0.0.7]"] {
            assert_eq!(read(&format!("http://{host}:8101/mcp")).unwrap().host, Host::Sender, "{host}");
        }
        let mapped = IpAddr::V6(Ipv4Addr::new(10, 0, 0, 7).to_ipv6_mapped());
        let endpoint = read_from("http://10.0.0.7:8101/mcp", mapped, false).unwrap();
        assert_eq!((endpoint.host, endpoint.ip()), (Host::Sender, FROM));
        let own = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(read_from("http://localhost:8101/mcp", own, false).unwrap().host, Host::Sender);
    }

    #[test]
    fn another_host_is_called_only_where_that_is_allowed_and_by_its_address() {
        for host in ["192.168.1.5", "192.168.261", "0xc0a80105", "[::ffff:192.168.1.5]"] {
            let text = format!("http://{host}:8101/a/b?c=d");
            let endpoint = read(&text).unwrap();
            assert_eq!((endpoint.to_string().as_str(), endpoint.host), ("10.0.0.7:8101", Host::Replaced), "{host}");
            let endpoint = read_from(&text, FROM, true).unwrap();
            assert_eq!((endpoint.to_string().as_str(), endpoint.host), ("192.168.1.5:8101", Host::Elsewhere), "{host}");
            assert_eq!(endpoint.path(), "/a/b?c=d");
        }
        for name in ["my-laptop.local", "10.0.0.256", "1.2.3.4.5", "0x", "+1", "08", "localhost.example"] {
            let endpoint = read_from(&format!("http://{name}:8101/"), FROM, true).unwrap();
            assert_eq!((endpoint.ip(), endpoint.host), (FROM, Host::Replaced), "{name}");
        }
    }

    #[test]
    fn localhost_is_right_where_the_agent_runs_on_the_boxs_own_computer() {
        for from in ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"] {
            let from: IpAddr = from.parse().unwrap();
            let own = match from.to_canonical() {
                IpAddr::V4(ip) => format!("{ip}"),
                IpAddr::V6(ip) => format!("[{ip}]"),
            };
            for host in ["localhost", "LOCALHOST", own.as_str()] {
                let endpoint = read_from(&format!("http://{host}:1/"), from, false).unwrap();
                assert_eq!((endpoint.ip(), endpoint.host), (from.to_canonical(), Host::Sender), "{host} from {from}");
            }
            // Every loopback address is a machine of its own.
            for (host, means) in
                [("127.9.9.9", Host::Local), ("0.0.0.0", Host::Local), ("my-laptop.local", Host::Replaced)]
            {
                let endpoint = read_from(&format!("http://{host}:1/"), from, false).unwrap();
                assert_eq!((endpoint.ip(), endpoint.host), (from.to_canonical(), means), "{host} from {from}");
            }
        }
    }

    #[test]
    fn a_missing_path_is_mcp_and_a_missing_port_is_80() {
        let endpoint = read("http://localhost:8101").unwrap();
        assert_eq!(endpoint.path(), "/mcp");
        assert_eq!(Url(&Contact::Dial(endpoint)).to_string(), "http://10.0.0.7:8101/mcp");
        assert_eq!(read("http://10.1.1.1/x").unwrap().port, 80);
        assert_eq!(read_from("http://[2001:db8::1]:99", FROM, true).unwrap().to_string(), "[2001:db8::1]:99");
    }

    #[test]
    fn a_contact_is_the_same_after_it_was_kept() {
        let dialled = Contact::Dial(read("http://localhost:8101/x").unwrap());
        let elsewhere = Contact::Dial(read_from("http://192.168.1.5:8101/x", FROM, true).unwrap());
        let replaced = Contact::Dial(read("http://192.168.1.5:8101/x").unwrap());
        for contact in [dialled, elsewhere, replaced, Contact::DialsIn(FROM)] {
            assert_eq!(Contact::restored(contact.given(), contact.from(), contact.is_elsewhere()), Some(contact));
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
