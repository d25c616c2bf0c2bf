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
use appliance::{ANSWER, Appliance, Space, WINDOW};
use cortex_m_rt::{ExceptionFrame, exception};
use defmt::{error, info, warn};
use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::{Config as NetConfig, Runner, Stack, StackResources};
use embassy_net_wiznet::State;
use embassy_rp::gpio::{Level, Output};
use embassy_rp::watchdog::Watchdog;
use embassy_time::Instant;
use heapless::{String, Vec};
use leaguebox_rp2040::board::{self, EthernetPins, EthernetRunner, FRAMES_IN, FRAMES_OUT};
use leaguebox_rp2040::entropy::Entropy;
use leaguebox_rp2040::flash::JournalFlash;
use leaguebox_rp2040::identity::Identity;
use leaguebox_rp2040::led::{self, Sign};
use leaguebox_rp2040::net::{self, Network, Small};
use leaguebox_rp2040::pico::Pico;
use leaguebox_rp2040::socket::{Own, Ports};
use leaguebox_rp2040::{lent_stack, mdns, panic, sntp, watchdog};
use protocol_core::fair::Seed;
use protocol_core::venue::{Config, Stage, Table, Venue};
use static_cell::{ConstStaticCell, StaticCell};

const PLAYERS: usize = 32;
const MATCHES: usize = PLAYERS / 2;
const RESULTS: usize = PLAYERS * (PLAYERS - 1) / 2;
const LOG: usize = 208;
/// What games keep for players between their moves: all that nothing else needs. Two full memories of resource-rush, and
/// what their drones say.
const NOTES: usize = 656 * PLAYERS;
/// Moves that wait for the flash.
const STEPS: usize = 416;

/// The port agents are told. Browsers come to 80 by themselves.
const AGENTS: u16 = 8000;
const BROWSERS: u16 = 80;
/// Where the box listens beside the port of agents, which it tells.
static OWN: [SocketAddr; 1] = [SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), BROWSERS)];
/// Connections at once: every player's, four pages that watch and four requests beside them, and always one more.
const SLOTS: usize = PLAYERS + 4 + 4 + 1;
/// A socket for each slot; for the DHCP client, mDNS and the time; one more to ask a DHCP server something.
const SOCKETS: usize = SLOTS + 3 + 1;

/// What the build's report divides by: slots, sockets; what a match takes, and what is there for memories. It reads them in
/// the image.
static COUNTS: [u32; 4] = [SLOTS as u32, SOCKETS as u32, size_of::<Option<Table>>() as u32, (NOTES + LONG) as u32];

type LeagueBox = Appliance<'static, Pico>;

/// What the box works in. Zeros, so that it takes no flash.
static SPACE: ConstStaticCell<Space<PLAYERS, MATCHES, RESULTS, LOG, NOTES, STEPS, SLOTS>> =
    ConstStaticCell::new(Space::new());

/// What a slot works with: what came and was not read yet; what was sent and not acknowledged yet; a request and the head of its
/// answer, what is written of a call in one go and then a whole reply, or the longest message of a player that dials in and what
/// is kept free behind it.
const SLOT: [usize; 3] = [512, 832, 704];
const SLOT_BYTES: usize = SLOT[0] + SLOT[1] + SLOT[2];
/// A request may take so much of that, and leaves so much for the head of its answer.
const REQUEST: [u16; 2] = [SLOT[2] as u16 - 192, 192];

/// A request of 2 KB, and its answer as far as that is written in one go. There are two of these.
const WIDE: usize = 2048 + ANSWER;
const _: () = assert!(WIDE >= WINDOW, "there is no room to unpack the page");

/// What a page that watches is told in one go, at most, or a short answer and its head.
const TOLD: usize = 1536;

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

    let [mut flash, film] = JournalFlash::new(p.FLASH);
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
    static BUFFERS: ConstStaticCell<[[u8; SLOT_BYTES]; SLOTS]> = ConstStaticCell::new([[0; SLOT_BYTES]; SLOTS]);
    let (resources, buffers) = (RESOURCES.uninit(), BUFFERS.take());
    let mut entropy = Entropy::new(&id);
    let [a, b, c, d, e, f, g, h, ..] = entropy.seed();
    let seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let (stack, runner) = lent_stack::run(buffers.as_flattened_mut(), || {
        let resources = resources.write(StackResources::new());
        embassy_net::new(Small::new(device), NetConfig::dhcpv4(net::dhcp()), resources, seed)
    });
    spawner.spawn(network_stack(runner).expect(ONCE));
    spawner.spawn(feed(watchdog).expect(ONCE));

    static LEAGUEBOX: StaticCell<LeagueBox> = StaticCell::new();
    let empty = LEAGUEBOX.uninit();
    let (leaguebox, chosen) = lent_stack::run(buffers.as_flattened_mut(), || {
        let (leaguebox, chosen) = open(&mut entropy);
        (empty.write(leaguebox), chosen)
    });
    static LONG_BUFFER: ConstStaticCell<[u8; LONG]> = ConstStaticCell::new([0; LONG]);
    leaguebox.have_long(LONG_BUFFER.take());
    static WIDE_BUFFERS: ConstStaticCell<[[u8; WIDE]; 2]> = ConstStaticCell::new([[0; WIDE]; 2]);
    WIDE_BUFFERS.take().iter_mut().for_each(|buf| leaguebox.have_wide(buf));
    static TOLD_BUFFER: ConstStaticCell<[u8; TOLD]> = ConstStaticCell::new([0; TOLD]);
    leaguebox.have_told(TOLD_BUFFER.take());
    let leaguebox: &'static LeagueBox = leaguebox;
    static FRAME_BUFFER: ConstStaticCell<[u8; FRAME]> = ConstStaticCell::new([0; FRAME]);
    let frame = FRAME_BUFFER.take();
    let journal = leaguebox.resume(flash, frame, chosen).await;
    let mut journal = leaguebox.resume_film(journal, film, frame).await;
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
    spawner.spawn(time(leaguebox, stack, network, entropy).expect(ONCE));
    spawner.spawn(show(leaguebox, network, matches!(last_reset, Reset::Panic | Reset::Watchdog), light).expect(ONCE));
    // Here, not in a task of its own: it takes the memory that resuming has taken before.
    leaguebox.keep_journal(&mut journal, frame).await
}

/// Opens the box. Says what its owner has chosen.
fn open(entropy: &mut Entropy) -> (LeagueBox, Chosen) {
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
    let seeds = (Seed(entropy.seed()), Seed(entropy.seed()));
    (Appliance::new(SPACE.take().lend(), Pico, config, seeds, code), chosen)
}

/// Gives every slot its buffers and a socket, and starts it.
fn staff(
    spawner: Spawner,
    leaguebox: &'static LeagueBox,
    stack: Stack<'static>,
    buffers: &'static mut [[u8; SLOT_BYTES]; SLOTS],
) {
    static PORTS: StaticCell<Ports> = StaticCell::new();
    static SOCKETS: StaticCell<Vec<Own, SLOTS>> = StaticCell::new();
    let ports: &'static Ports = PORTS.init_with(|| Ports::new([AGENTS, BROWSERS]));
    let sockets = SOCKETS.init_with(Vec::new);
    let mut own: Vec<_, SLOTS> = Vec::new();
    for buffers in buffers {
        let (of_socket, buf) = buffers.split_at_mut(SLOT[0] + SLOT[1]);
        let (rx, tx) = of_socket.split_at_mut(SLOT[0]);
        let _ = sockets.push(Own::new(stack, rx, tx, ports));
        let _ = own.push(buf);
    }
    let sockets: &'static [Own] = sockets;
    // In the order of the sockets, which is the order in which they are asked whether they listen.
    for (socket, buf) in sockets.iter().zip(own) {
        spawner.spawn(slot(leaguebox, socket, buf).expect(ONCE));
    }
}

#[embassy_executor::task]
async fn ethernet(runner: EthernetRunner) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn network_stack(mut runner: Runner<'static, Small>) -> ! {
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
        leaguebox.act(|venue, _| venue.move_to(endpoint));
    })
    .await
}

#[embassy_executor::task]
async fn names(stack: Stack<'static>, network: &'static Network, name: &'static str) -> ! {
    mdns::answer(stack, network, name).await
}

#[embassy_executor::task]
async fn time(leaguebox: &'static LeagueBox, stack: Stack<'static>, network: &'static Network, entropy: Entropy) -> ! {
    sntp::keep(stack, network, entropy, |utc| {
        leaguebox.learn_time(Source::Sntp, utc);
    })
    .await
}

#[embassy_executor::task]
async fn show(leaguebox: &'static LeagueBox, network: &'static Network, failed: bool, mut light: Output<'static>) {
    let sign = || {
        Some(match leaguebox.venue(Venue::stage) {
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

// Slots are many, so nothing is around their futures.

#[embassy_executor::task(pool_size = SLOTS)]
fn slot(leaguebox: &'static LeagueBox, socket: &'static Own, buf: &'static mut [u8]) -> impl Future<Output = ()> {
    leaguebox.slot(socket, buf, REQUEST)
}
