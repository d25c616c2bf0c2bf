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
use embassy_net::driver::{Capabilities, Driver, HardwareAddress, LinkState};
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
pub struct Small(pub Device<'static>);

/// The headers of Ethernet, IP and TCP, and a segment.
const FRAME: usize = 14 + 20 + 20 + 784;

impl Driver for Small {
    type RxToken<'a> = <Device<'static> as Driver>::RxToken<'a>;
    type TxToken<'a> = <Device<'static> as Driver>::TxToken<'a>;

    fn receive(&mut self, context: &mut Context<'_>) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        self.0.receive(context)
    }

    fn transmit(&mut self, context: &mut Context<'_>) -> Option<Self::TxToken<'_>> {
        self.0.transmit(context)
    }

    fn link_state(&mut self, context: &mut Context<'_>) -> LinkState {
        self.0.link_state(context)
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.0.capabilities();
        capabilities.max_transmission_unit = FRAME;
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        self.0.hardware_address()
    }
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
