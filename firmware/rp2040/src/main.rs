//! What runs on the board.
#![no_std]
#![no_main]

use core::panic::PanicInfo;

use appliance::Appliance;
use defmt::info;
use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::{Config as NetConfig, Runner, Stack, StackResources};
use embassy_net_wiznet::{Device, State};
use leaguebox_rp2040::board::{self, EthernetPins, EthernetRunner, FRAMES};
use leaguebox_rp2040::clock::BoardClock;
use leaguebox_rp2040::entropy::Entropy;
use leaguebox_rp2040::identity::Identity;
use leaguebox_rp2040::socket::Port;
use leaguebox_rp2040::{net, panic};
use protocol_core::fair::Seed;
use protocol_core::games::GameKind;
use protocol_core::hall::{Config, Hall, Mode};
use protocol_core::referee::Timing;
use static_cell::{ConstStaticCell, StaticCell};

const PLAYERS: usize = 8;
const MATCHES: usize = PLAYERS / 2;
const RESULTS: usize = PLAYERS * (PLAYERS - 1) / 2;
const LOG: usize = 64;
const WORKERS: usize = 8;
/// Lines, workers, and what the box asks the network itself.
const SOCKETS: usize = PLAYERS + WORKERS + 5;

type LeagueBox = Appliance<BoardClock, PLAYERS, MATCHES, RESULTS, LOG>;

/// Why a task always starts.
const ONCE: &str = "a task is started as often as there is room for";

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    panic::reset(info)
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let p = embassy_rp::init(Default::default());
    let id = board::unique_id(p.FLASH);
    let identity = Identity::of(id);
    info!("leaguebox {}, {}, last reset: power-on", env!("CARGO_PKG_VERSION"), identity.name.as_str());
    let mut entropy = Entropy::new(&id);

    static FRAMES_STATE: ConstStaticCell<State<FRAMES, FRAMES>> = ConstStaticCell::new(State::new());
    let pins = EthernetPins {
        spi: p.SPI0,
        clock: p.PIN_18,
        mosi: p.PIN_19,
        miso: p.PIN_16,
        select: p.PIN_17,
        interrupt: p.PIN_21,
        reset: p.PIN_20,
        tx_dma: p.DMA_CH0,
        rx_dma: p.DMA_CH1,
    };
    let (device, runner) = board::ethernet(pins, identity.mac, FRAMES_STATE.take()).await.expect("the Ethernet chip");
    spawner.spawn(ethernet(runner).expect(ONCE));

    static RESOURCES: StaticCell<StackResources<SOCKETS>> = StaticCell::new();
    let resources = RESOURCES.init_with(StackResources::new);
    let [a, b, c, d, e, f, g, h, ..] = entropy.seed();
    let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let (stack, runner) = embassy_net::new(device, NetConfig::dhcpv4(net::dhcp()), resources, seed);
    spawner.spawn(network(runner).expect(ONCE));

    let code = entropy.admin_code();
    info!("admin code {}", code.as_str());
    static LEAGUEBOX: StaticCell<LeagueBox> = StaticCell::new();
    let config = Config {
        game: GameKind::EvenOdd,
        mode: Mode::Lenient,
        timing: Timing::default(),
        start_at: None,
        endpoint: "http://leaguebox.local:8000/mcp".try_into().unwrap_or_default(),
    };
    let (master, secret) = (Seed(entropy.seed()), Seed(entropy.seed()));
    let leaguebox: &'static LeagueBox =
        LEAGUEBOX.init_with(|| Appliance::new(Hall::new(config, master, secret), BoardClock, code));
    for index in 0..WORKERS {
        spawner.spawn(worker(leaguebox, stack, if index < 6 { 8000 } else { 80 }).expect(ONCE));
    }
    for index in 0..PLAYERS as u16 {
        spawner.spawn(line(leaguebox, stack, index).expect(ONCE));
    }
    spawner.spawn(deadlines(leaguebox).expect(ONCE));
    net::watch(stack).await
}

#[embassy_executor::task]
async fn ethernet(runner: EthernetRunner) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn network(mut runner: Runner<'static, Device<'static>>) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn deadlines(leaguebox: &'static LeagueBox) -> ! {
    leaguebox.keep_time().await
}

#[embassy_executor::task(pool_size = WORKERS)]
async fn worker(leaguebox: &'static LeagueBox, stack: Stack<'static>, port: u16) -> ! {
    let (mut rx, mut tx, mut incoming, mut outgoing) = ([0; 512], [0; 1536], [0; 2048], [0; 1024]);
    let port = Port::new(stack, port, &mut rx, &mut tx);
    leaguebox.serve(&port, &mut incoming, &mut outgoing).await
}

#[embassy_executor::task(pool_size = PLAYERS)]
async fn line(leaguebox: &'static LeagueBox, stack: Stack<'static>, index: u16) -> ! {
    let (mut rx, mut tx, mut buf, mut message) = ([0; 512], [0; 512], [0; 1024], [0; 512]);
    let port = Port::new(stack, 0, &mut rx, &mut tx);
    leaguebox.line(index, &port, &mut buf, &mut message).await
}
