//! Where the box is on the network.
//!
//! It asks for an address by DHCP, under the name `leaguebox`. If no server answers for ten seconds it takes the address it had
//! last, or, if it never had one, [`FIXED`]: a laptop on the other end of the cable finds itself such an address too, and they can
//! talk. From then on it looks for a server now and then, and returns to what that says. Cables may be pulled and leases change at
//! any time.

use core::cell::Cell;
use core::net::Ipv4Addr;
use core::task::Context;

use defmt::info;
use embassy_futures::select::{Either, select};
use embassy_net::driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};
use embassy_net::{ConfigV4, DhcpConfig, Ipv4Cidr, Stack, StaticConfigV4};
use embassy_net_wiznet::Device;
use embassy_time::{Duration, Instant, Ticker};
use heapless::Vec;

use crate::dhcp::{self, Question};

/// The address of a box that no server gives one, in the range meant for that.
pub const FIXED: Ipv4Cidr = Ipv4Cidr::new(Ipv4Addr::new(169, 254, 77, 77), 16);

/// How long a server has to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to look for a server when there was none.
const LOOK_FOR_SERVER: Duration = Duration::from_secs(15);
/// How often to look at the link and the address. The stack wakes one task only when they change, and not for a new lease.
const LOOK: Duration = Duration::from_millis(100);

/// Ethernet with segments that are a little smaller than what a slot's socket keeps until it is acknowledged: of a long answer
/// there are two on the way, and who gets two acknowledges them at once, where it would wait long for another after one.
///
/// It passes over a connection that is asked for again after it was granted. Whoever hears nothing for a second asks again; the
/// stack hands that to the first socket that listens, not to the one that has the connection, and from then on it takes all that
/// belongs to the connection for a mistake, and resets it.
pub struct Small {
    device: Device<'static>,
    granted: Granted,
}

impl Small {
    /// That of a device.
    pub fn new(device: Device<'static>) -> Self {
        Self { device, granted: Granted::default() }
    }
}

/// The headers of Ethernet, IP and TCP, and a segment.
const FRAME: usize = 14 + 20 + 20 + 784;

impl Driver for Small {
    type RxToken<'a> = Rx<'a>;
    type TxToken<'a> = Tx<'a>;

    fn receive(&mut self, context: &mut Context<'_>) -> Option<(Rx<'_>, Tx<'_>)> {
        let (rx, tx) = self.device.receive(context)?;
        Some((Rx(rx, &self.granted), Tx(tx, &self.granted)))
    }

    fn transmit(&mut self, context: &mut Context<'_>) -> Option<Tx<'_>> {
        self.device.transmit(context).map(|tx| Tx(tx, &self.granted))
    }

    fn link_state(&mut self, context: &mut Context<'_>) -> LinkState {
        self.device.link_state(context)
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.device.capabilities();
        capabilities.max_transmission_unit = FRAME;
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        self.device.hardware_address()
    }
}

/// A frame that came.
pub struct Rx<'a>(<Device<'static> as Driver>::RxToken<'a>, &'a Granted);

impl RxToken for Rx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, read: F) -> R {
        let Self(token, granted) = self;
        token.consume(|frame| {
            if handshake(frame).is_some_and(|(asked, flags)| flags & (SYN | ACK) == SYN && granted.has(asked)) {
                // A kind of frame that nobody knows.
                frame.iter_mut().skip(KIND).take(2).for_each(|byte| *byte = 0xff);
            }
            read(frame)
        })
    }
}

/// A frame that leaves.
pub struct Tx<'a>(<Device<'static> as Driver>::TxToken<'a>, &'a Granted);

impl TxToken for Tx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let Self(token, granted) = self;
        token.consume(len, |frame| {
            let written = write(frame);
            if let Some((asked, _)) = handshake(frame).filter(|(_, flags)| flags & (SYN | ACK) == SYN | ACK) {
                granted.note(asked);
            }
            written
        })
    }
}

/// How many of those are known.
const GRANTED: usize = 48;

/// Connections that were granted last: more than there are slots, and as many as come in the seconds in which somebody asks again.
/// Each by what tells who asked, mixed to a number.
struct Granted {
    asked: [Cell<u32>; GRANTED],
    next: Cell<u8>,
}

impl Default for Granted {
    fn default() -> Self {
        Self { asked: [const { Cell::new(0) }; GRANTED], next: Cell::new(0) }
    }
}

impl Granted {
    fn has(&self, asked: u32) -> bool {
        self.asked.iter().any(|granted| granted.get() == asked)
    }

    fn note(&self, asked: u32) {
        if !self.has(asked) {
            let next = self.next.get();
            if let Some(place) = self.asked.get(usize::from(next)) {
                place.set(asked);
            }
            self.next.set(if usize::from(next) + 1 < GRANTED { next + 1 } else { 0 });
        }
    }
}

/// Where in a frame its kind stands.
const KIND: usize = 12;
/// Flags of TCP: a connection is asked for, something is acknowledged.
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// Who asks for a connection with this frame, or is granted one: its address, its port, ours and the number it begins with, mixed.
/// And the flags.
fn handshake(frame: &[u8]) -> Option<(u32, u8)> {
    const IPV4: [u8; 2] = [8, 0];
    const TCP: u8 = 6;
    let (ethernet, ip) = frame.split_at_checked(KIND + 2)?;
    let begin = usize::from(ip.first()? & 0x0f) * 4;
    let (ip, tcp) = ip.split_at_checked(begin)?;
    if !ethernet.ends_with(&IPV4) || ip.get(9) != Some(&TCP) {
        return None;
    }
    let &[a, b, c, d, e, f, g, h, i, j, k, l, _, flags, ..] = tcp else { return None };
    if flags & SYN == 0 {
        return None;
    }
    let (from, to) = (ip.get(12..16)?, ip.get(16..20)?);
    let (address, ports, first) = match flags & ACK {
        0 => (from, [a, b, c, d], u32::from_be_bytes([e, f, g, h])),
        _ => (to, [c, d, a, b], u32::from_be_bytes([i, j, k, l]).wrapping_sub(1)),
    };
    let mix = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let asked = address.iter().chain(&ports).chain(&first.to_be_bytes()).fold(0x811c_9dc5, mix);
    // Zero is nobody.
    Some((asked.max(1), flags))
}

/// Asks for an address, with a name by which routers list the box.
pub fn dhcp() -> DhcpConfig {
    let mut config = DhcpConfig::default();
    config.hostname = "leaguebox".try_into().ok();
    // Every 2 s instead of every 10: a switch that was just switched on loses the first ones.
    config.retry_config.discover_timeout /= 5;
    config.retry_config.initial_request_timeout /= 5;
    config
}

/// What the network looks like, for whoever is interested.
#[derive(Default)]
pub struct Network {
    /// Whether the cable leads anywhere.
    pub link: Cell<bool>,
    /// Our address.
    pub address: Cell<Option<Ipv4Addr>>,
    /// The way out of this network.
    pub gateway: Cell<Option<Ipv4Addr>>,
    /// Who tells the time here, by what the DHCP server says.
    pub time_server: Cell<Option<Ipv4Addr>>,
}

/// Keeps the box on the network, and says what happens. `moved` is told each new address.
pub async fn keep(stack: Stack<'static>, network: &Network, moved: impl Fn(Ipv4Addr)) -> ! {
    let mut ticker = Ticker::every(LOOK);
    // Whether we ask for an address or use one of our own.
    let mut is_asking = true;
    // The last lease, and since when nothing has changed.
    let mut last: Option<StaticConfigV4> = None;
    let mut since = Instant::now();
    loop {
        ticker.next().await;
        let mut question = None;
        let link = stack.is_link_up();
        if network.link.replace(link) != link {
            info!("link {=str}", if link { "up" } else { "down" });
            since = Instant::now();
            if !link && !is_asking {
                // The cable may come back in another socket of the wall.
                stack.set_config_v4(ConfigV4::Dhcp(dhcp()));
                is_asking = true;
            }
        }
        let config = stack.config_v4().filter(|_| link);
        let address = config.as_ref().map(|config| config.address.address());
        network.gateway.set(config.as_ref().and_then(|config| config.gateway));
        if network.address.replace(address) != address {
            since = Instant::now();
            network.time_server.set(None);
            if let Some(address) = address {
                let [a, b, c, d] = address.octets();
                info!("address {}.{}.{}.{}", a, b, c, d);
                moved(address);
                question = is_asking.then_some(Question::TimeServer(address));
            }
        }
        if is_asking && config.is_some() {
            last = config;
        } else if is_asking && link && since.elapsed() > PATIENCE {
            let own = StaticConfigV4 { address: FIXED, gateway: None, dns_servers: Vec::new() };
            stack.set_config_v4(ConfigV4::Static(last.clone().unwrap_or(own)));
            is_asking = false;
            since = Instant::now();
        } else if !is_asking && since.elapsed() > LOOK_FOR_SERVER {
            question = Some(Question::Offer);
            since = Instant::now();
        }
        let Some(question) = question else { continue };
        if let Either::First(Some(answer)) = select(dhcp::ask(stack, question), stack.wait_link_down()).await {
            network.time_server.set(answer.time_server);
            if !is_asking {
                info!("a DHCP server answers");
                stack.set_config_v4(ConfigV4::Dhcp(dhcp()));
                is_asking = true;
            }
        }
    }
}
