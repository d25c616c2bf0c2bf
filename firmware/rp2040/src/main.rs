//! What runs on the board, and how much memory each part gets. Everything is static: nothing is allocated, and a task's
//! memory is there before it starts.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::panic::PanicInfo;

use appliance::board::Reset;
use appliance::calendar::Source;
use appliance::journal::{Chosen, FRAME, State as JournalState};
use appliance::{ANSWER, Appliance, Links};
use cortex_m_rt::{ExceptionFrame, exception};
use defmt::{error, info, warn};
use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::{Config as NetConfig, Runner, Stack, StackResources};
use embassy_net_wiznet::{Device, State};
use embassy_rp::gpio::{Level, Output};
use embassy_rp::watchdog::Watchdog;
use embassy_time::Instant;
use heapless::{String, Vec};
use leaguebox_rp2040::board::{self, EthernetPins, EthernetRunner, FRAMES_IN, FRAMES_OUT};
use leaguebox_rp2040::entropy::Entropy;
use leaguebox_rp2040::flash::JournalFlash;
use leaguebox_rp2040::identity::Identity;
use leaguebox_rp2040::led::{self, Sign};
use leaguebox_rp2040::net::{self, Network};
use leaguebox_rp2040::pico::Pico;
use leaguebox_rp2040::socket::{Connection, Pool, Ports, Socket, socket};
use leaguebox_rp2040::{lent_stack, mdns, panic, sntp, watchdog};
use protocol_core::fair::Seed;
use protocol_core::hall::{Config, Hall, Stage, Table};
use static_cell::{ConstStaticCell, StaticCell};

const PLAYERS: usize = 32;
const MATCHES: usize = PLAYERS / 2;
const RESULTS: usize = PLAYERS * (PLAYERS - 1) / 2;
const LOG: usize = 256;

/// The port agents are told. Browsers come to 80 by themselves.
const AGENTS: u16 = 8000;
const BROWSERS: u16 = 80;
/// Where the box listens beside the port of agents, which it tells.
static OWN: [SocketAddr; 1] = [SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), BROWSERS)];
/// Connections that are served at once, on both ports.
const WORKERS: usize = 8;
/// A socket for each line and worker; for the DHCP client, mDNS and the time; two more to ask a DHCP server something.
const SOCKETS: usize = PLAYERS + WORKERS + 3 + 2;

/// What the build's report divides by: players, sockets; what a match takes, and what is there for memories. It reads them in
/// the image.
static COUNTS: [u32; 4] =
    [PLAYERS as u32, SOCKETS as u32, size_of::<Option<Table>>() as u32, (TheHall::NOTES + LONG) as u32];

type LeagueBox = Appliance<Pico, PLAYERS, MATCHES, RESULTS, LOG>;
type TheHall = Hall<PLAYERS, MATCHES, RESULTS, LOG>;

/// What a worker works with: what came and was not read yet; what was sent and not acknowledged yet, a full segment and the
/// beginning of another, so that the other end acknowledges at once; a whole request of 2 KB, and its answer as far as that
/// is written in one go.
const WORKER: [usize; 3] = [512, 1536, 2048 + ANSWER];
const WORKER_BYTES: usize = WORKER[0] + WORKER[1] + WORKER[2];

/// What a line works with: what came and was not read yet; what was sent and not acknowledged yet; what is written in one
/// go, and then a whole reply, or for a player that dials in its longest message and what is kept free behind it.
const LINE: [usize; 3] = [512, 736, 1024];
const LINE_BYTES: usize = LINE[0] + LINE[1] + LINE[2];

/// The longest message: a move of resource-rush with a full memory of 10 KB, and what a buffer keeps free behind it.
const LONG: usize = 11_008;

/// Why a task always starts.
const ONCE: &str = "a task is started as often as there is room for";

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    panic::end(info)
}

// SAFETY: it only reads the frame it is given, and never returns.
#[allow(unsafe_code)]
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    panic::fault(frame.pc())
}

defmt::timestamp!("{=u64:ms}", Instant::now().as_millis());

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let p = embassy_rp::init(Default::default());
    let watchdog = watchdog::start(p.WATCHDOG);
    let (last_reset, last_panic) = panic::find(watchdog.reset_reason());
    let mut light = Output::new(p.PIN_25, Level::Low);

    let [mut flash, reel] = JournalFlash::new(p.FLASH);
    let id = flash.unique_id();
    static IDENTITY: StaticCell<Identity> = StaticCell::new();
    let identity = IDENTITY.init_with(|| Identity::of(id));
    let name = identity.name.as_str();
    core::hint::black_box(&COUNTS);
    info!("leaguebox {=str}, {=str}, last reset: {=str}", env!("CARGO_PKG_VERSION"), name, last_reset.name());
    Pico::know(name, last_reset, last_panic);
    if let Some(words) = last_panic {
        warn!("last panic: {=str}", words);
    }

    static STATE: ConstStaticCell<State<FRAMES_IN, FRAMES_OUT>> = ConstStaticCell::new(State::new());
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
    let (device, runner) = match board::ethernet(pins, identity.mac, STATE.take()).await {
        Ok(ethernet) => ethernet,
        Err(_) => {
            error!("the Ethernet chip does not answer");
            // Until the watchdog, which nobody feeds, tries again.
            led::show(&mut light, || Some(Sign::Broken)).await;
            return;
        }
    };
    spawner.spawn(ethernet(runner).expect(ONCE));

    static RESOURCES: StaticCell<StackResources<SOCKETS>> = StaticCell::new();
    static BUFFERS: ConstStaticCell<[[u8; WORKER_BYTES]; WORKERS]> = ConstStaticCell::new([[0; WORKER_BYTES]; WORKERS]);
    let (resources, buffers) = (RESOURCES.uninit(), BUFFERS.take());
    let mut entropy = Entropy::new(&id);
    let [a, b, c, d, e, f, g, h, ..] = entropy.seed();
    let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let (stack, runner) = lent_stack::run(buffers.as_flattened_mut(), || {
        let resources = resources.write(StackResources::new());
        embassy_net::new(device, NetConfig::dhcpv4(net::dhcp()), resources, seed)
    });
    spawner.spawn(network_stack(runner).expect(ONCE));
    spawner.spawn(feed(watchdog).expect(ONCE));

    static LEAGUEBOX: ConstStaticCell<LeagueBox> = ConstStaticCell::new(Appliance::closed(Pico));
    let leaguebox = LEAGUEBOX.take();
    let chosen = open(leaguebox, &mut entropy);
    static LONG_BUFFER: ConstStaticCell<[u8; LONG]> = ConstStaticCell::new([0; LONG]);
    leaguebox.have_long(LONG_BUFFER.take());
    let leaguebox: &'static LeagueBox = leaguebox;
    static FRAME_BUFFER: ConstStaticCell<[u8; FRAME]> = ConstStaticCell::new([0; FRAME]);
    let frame = FRAME_BUFFER.take();
    let journal = leaguebox.resume(flash, frame, chosen).await;
    let mut journal = leaguebox.resume_reel(journal, reel, frame).await;
    if let JournalState::Failed(trouble) = leaguebox.journal() {
        error!("journal: {}", defmt::Display2Format(&trouble));
    }
    info!("admin code {=str}", leaguebox.admin_code().as_str());
    static NETWORK: StaticCell<Network> = StaticCell::new();
    let network: &'static Network = NETWORK.init_with(Network::default);

    staff(spawner, leaguebox, stack, buffers);
    spawner.spawn(deadlines(leaguebox).expect(ONCE));
    spawner.spawn(address(leaguebox, stack, network).expect(ONCE));
    spawner.spawn(names(stack, network, name).expect(ONCE));
    spawner.spawn(time(leaguebox, stack, network).expect(ONCE));
    spawner.spawn(show(leaguebox, network, matches!(last_reset, Reset::Panic | Reset::Watchdog), light).expect(ONCE));
    // Here, not in a task of its own: it takes the memory that resuming has taken before.
    leaguebox.keep_journal(&mut journal, frame).await
}

/// Opens the box. Says what its owner has chosen.
fn open(leaguebox: &mut LeagueBox, entropy: &mut Entropy) -> Chosen {
    // An owner without a probe cannot read the log, and so chooses the code when the image is built.
    let code = option_env!("LEAGUEBOX_ADMIN_CODE").and_then(|code| code.try_into().ok());
    let chosen = Chosen { admin_code: code.is_some(), ..Chosen::default() };
    let code = code.unwrap_or_else(|| entropy.admin_code());
    let config = Config {
        // Known when there is an address.
        endpoint: String::new(),
        own: Some(&OWN),
        ..Config::default()
    };
    let (master, secret) = (Seed(entropy.seed()), Seed(entropy.seed()));
    leaguebox.open(config, master, secret, code);
    chosen
}

/// Gives every line and every worker its buffers and a socket, and starts them.
fn staff(
    spawner: Spawner,
    leaguebox: &'static LeagueBox,
    stack: Stack<'static>,
    buffers: &'static mut [[u8; WORKER_BYTES]; WORKERS],
) {
    static LINE_BUFFERS: ConstStaticCell<[[u8; LINE_BYTES]; PLAYERS]> =
        ConstStaticCell::new([[0; LINE_BYTES]; PLAYERS]);
    static POOL: StaticCell<Vec<Socket, { PLAYERS + WORKERS }>> = StaticCell::new();
    static LINKS: StaticCell<Links<Connection, PLAYERS>> = StaticCell::new();
    let (sockets, links): (_, &'static _) = (POOL.init_with(Vec::new), LINKS.init_with(Links::new));
    let mut lines: Vec<_, PLAYERS> = Vec::new();
    for buffers in LINE_BUFFERS.take() {
        let (of_socket, own) = buffers.split_at_mut(LINE[0] + LINE[1]);
        let (rx, tx) = of_socket.split_at_mut(LINE[0]);
        let _ = sockets.push(socket(stack, rx, tx));
        let _ = lines.push(own);
    }
    let mut workers: Vec<_, WORKERS> = Vec::new();
    for buffers in buffers {
        let (of_socket, own) = buffers.split_at_mut(WORKER[0] + WORKER[1]);
        let (rx, tx) = of_socket.split_at_mut(WORKER[0]);
        let _ = sockets.push(socket(stack, rx, tx));
        let _ = workers.push(own);
    }
    static PORTS: StaticCell<Ports> = StaticCell::new();
    let ports: &'static Ports = PORTS.init_with(|| Ports::new(Pool(sockets), [AGENTS, BROWSERS]));
    for buf in workers {
        spawner.spawn(worker(leaguebox, ports, links, buf).expect(ONCE));
    }
    for (player, buf) in (0..).zip(lines) {
        spawner.spawn(line(leaguebox, ports.pool(), links, player, buf).expect(ONCE));
    }
}

#[embassy_executor::task]
async fn ethernet(runner: EthernetRunner) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn network_stack(mut runner: Runner<'static, Device<'static>>) -> ! {
    watchdog::STACK.watch(runner.run()).await
}

#[embassy_executor::task]
async fn feed(watchdog: Watchdog) -> ! {
    watchdog::feed(watchdog).await
}

#[embassy_executor::task]
async fn address(leaguebox: &'static LeagueBox, stack: Stack<'static>, network: &'static Network) -> ! {
    net::keep(stack, network, |address| {
        let mut endpoint = String::new();
        let _ = write!(endpoint, "http://{address}:{AGENTS}/mcp");
        leaguebox.act(|hall, _| hall.move_to(endpoint));
    })
    .await
}

#[embassy_executor::task]
async fn names(stack: Stack<'static>, network: &'static Network, name: &'static str) -> ! {
    mdns::answer(stack, network, name).await
}

#[embassy_executor::task]
async fn time(leaguebox: &'static LeagueBox, stack: Stack<'static>, network: &'static Network) -> ! {
    sntp::keep(stack, network, |utc| {
        leaguebox.learn_time(Source::Sntp, utc);
    })
    .await
}

#[embassy_executor::task]
async fn show(leaguebox: &'static LeagueBox, network: &'static Network, failed: bool, mut light: Output<'static>) {
    let sign = || {
        Some(match leaguebox.hall(Hall::stage) {
            _ if !network.link.get() => Sign::NoLink,
            Stage::Running(_) => Sign::Running,
            _ if failed => Sign::Fault,
            _ => Sign::Waiting,
        })
    };
    led::show(&mut light, sign).await
}

#[embassy_executor::task]
async fn deadlines(leaguebox: &'static LeagueBox) -> ! {
    leaguebox.keep_time().await
}

// Lines and workers are many, so nothing is around their futures.

#[embassy_executor::task(pool_size = WORKERS)]
fn worker(
    leaguebox: &'static LeagueBox,
    ports: &'static Ports,
    links: &'static Links<Connection, PLAYERS>,
    buf: &'static mut [u8],
) -> impl Future<Output = ()> {
    leaguebox.serve(ports, links, buf, ANSWER)
}

#[embassy_executor::task(pool_size = PLAYERS)]
fn line(
    leaguebox: &'static LeagueBox,
    pool: &'static Pool,
    links: &'static Links<Connection, PLAYERS>,
    player: u16,
    buf: &'static mut [u8],
) -> impl Future<Output = ()> {
    leaguebox.line(player, pool, links, buf)
}
