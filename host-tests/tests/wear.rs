//! How many leagues the flash of a board lasts: the code of journal and film on flashes of the board's size, through whole
//! leagues of a full class, counting how often each sector is erased. `cargo xtask wear` prints it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use appliance::journal::{FRAME, Log, commit, sectors_of_a_league, spool};
use embassy_futures::block_on;
use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};
use host_tests::here;
use protocol_core::fair::Seed;
use protocol_core::json::Slice;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Output, Space, Venue, Via};
use serde_json::{Value, json};

const PLAYERS: usize = 32;
const MATCHES: usize = PLAYERS * (PLAYERS - 1) / 2;
type Board = Space<PLAYERS, 16, MATCHES, 256, 20_992, 416>;

/// The journal's part of the board's flash, a W25Q16JV.
const SECTORS: usize = 160;
/// And the film's.
const FILM_SECTORS: usize = 64;
const SECTOR: usize = 4096;
/// Erases every sector stands, by the chip's data sheet.
const CYCLES: u64 = 100_000;
/// Rounds through the flash that are looked at.
const ROUNDS: u32 = 3;

const NOW: Now = Now { ms: 5, utc: Utc(1_736_937_000) };

/// A flash that counts.
struct Worn {
    bytes: Vec<u8>,
    erases: Vec<u32>,
}

impl Worn {
    fn new(sectors: usize) -> Self {
        Self { bytes: vec![0xff; sectors * SECTOR], erases: vec![0; sectors] }
    }

    /// How often a sector was erased at least, and at most.
    fn range(&self) -> (u32, u32) {
        (*self.erases.iter().min().expect("sectors"), *self.erases.iter().max().expect("sectors"))
    }
}

impl ErrorType for Worn {
    type Error = Infallible;
}

impl ReadNorFlash for Worn {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Worn {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = SECTOR;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Infallible> {
        self.bytes[from as usize..to as usize].fill(0xff);
        self.erases[from as usize / SECTOR] += 1;
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Infallible> {
        self.bytes[offset as usize..].iter_mut().zip(bytes).for_each(|(old, new)| *old &= new);
        Ok(())
    }
}

impl MultiwriteNorFlash for Worn {}

/// A board whose players answer at once: everything that happens is written on its own, which takes the most room.
struct Class {
    venue: Venue<'static>,
    log: Log<Worn>,
    film: Log<Worn>,
}

impl Class {
    fn keep(&mut self) {
        let mut buf = [0; FRAME];
        while block_on(commit(&mut self.log, &mut self.venue, &mut buf, "class-7b"))
            .expect("the flash is sound")
            .is_some()
        {
            // All of it.
        }
        while block_on(spool(&mut self.film, &mut self.venue, &mut buf)).expect("the flash is sound") {}
    }

    fn register(&mut self, number: usize) {
        let body = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {"player_meta": {
            "display_name": format!("Student number {number}"), "version": "1.0.0",
            "contact_endpoint": format!("http://192.168.1.{}:8101/mcp", 100 + number)}}});
        let body = body.to_string();
        let from = IpAddr::V4(Ipv4Addr::new(192, 168, 1, 100 + number as u8));
        let answer = self.venue.request(NOW, from, Via::Register, body.as_bytes());
        let mut buf = [0; 2048];
        let mut sink = Slice::new(&mut buf);
        self.venue.write_answer(&answer, &mut sink).expect("room");
        let answer: Value = serde_json::from_slice(sink.written()).expect("JSON");
        assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
        self.keep();
    }

    /// From the start to the last message. Sectors are erased after it, as the box does it.
    fn play(&mut self, command: Command) {
        self.venue.command(NOW, command).expect("its time has come");
        let mut changed = VecDeque::new();
        loop {
            while let Some(Output::Line(player)) = self.venue.poll_output() {
                changed.push_back(player);
            }
            let Some(player) = changed.pop_front() else { break };
            let Some(call) = self.venue.call(player).map(|call| call.id) else { continue };
            let choice = if (call ^ u32::from(player)) % 3 == 0 { "even" } else { "odd" };
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":{call},"result":{{"accept":true,"parity_choice":"{choice}"}}}}"#);
            self.venue.handle(NOW, Event::Reply { player, call, status: 200, body: body.as_bytes() });
            changed.push_back(player);
            self.keep();
        }
        assert!(self.venue.is_over(), "every player has been told the end");
        let erased = self.log.erases();
        while block_on(self.log.prepare(sectors_of_a_league::<Worn>(PLAYERS, MATCHES), &mut [0; FRAME])) == Ok(true) {}
        assert!(self.log.erases() - erased <= 16, "a league's worth");
    }

    fn past_leagues(&mut self) -> Vec<u32> {
        let (mut before, mut leagues) = (u32::MAX, Vec::new());
        while let Some(past) = block_on(self.log.past(before, &mut [0; FRAME])).expect("the flash is sound") {
            assert_eq!((past.ended.players, past.ended.matches), (PLAYERS as u16, MATCHES as u32));
            let mut next = past.first;
            for rank in 1..=past.ended.players {
                let mut frame = [0; FRAME];
                let line = self.log.line(next, &mut frame, |row| assert_eq!(row.rank, rank));
                next = block_on(line).expect("a sound flash").expect("a line");
            }
            leagues.push(past.ended.league);
            before = past.before;
        }
        leagues
    }
}

#[test]
fn the_flash_of_a_board_lasts_as_many_leagues_as_the_readme_says() {
    let config = Config { endpoint: "http://192.168.1.77:8000/mcp".try_into().expect("short"), ..Config::default() };
    let mut board = Class {
        venue: Venue::new(Box::leak(Box::new(Board::new())).lend(), config, Seed([1; 32]), Seed([2; 32])),
        log: Log::new(Worn::new(SECTORS)),
        film: Log::new(Worn::new(FILM_SECTORS)),
    };
    assert_eq!(block_on(board.log.open(&mut [0; FRAME])), Ok(false));
    assert_eq!(block_on(board.film.open_film(&mut [0; FRAME])), Ok(()));
    board.venue.keep_facts();
    (0..PLAYERS).for_each(|number| board.register(number));
    board.play(Command::Start);
    let mut leagues = 1;
    // How many past leagues are readable depends on where the last one ended.
    let mut fewest = usize::MAX;
    let mut through = |board: &mut Class, rounds: u32| {
        while board.log.flash_mut().erases.iter().any(|&erases| erases < rounds) {
            board.play(Command::Rematch);
            leagues += 1;
            let past = board.past_leagues();
            assert!(past.iter().zip((1..=leagues).rev()).all(|(&found, expected)| found == expected), "{past:?}");
            fewest = if rounds > 1 { fewest.min(past.len()) } else { fewest };
        }
        leagues
    };
    // A new flash has nothing to erase: the first round does not count.
    let before = through(&mut board, 1);
    let leagues = through(&mut board, 1 + ROUNDS);
    let (least, most) = board.log.flash_mut().range();
    assert!(most - least <= 1, "wear is even: {least} to {most}");
    let (film_least, film_most) = board.film.flash_mut().range();
    assert!(film_most - film_least <= 1, "wear is even: {film_least} to {film_most}");
    // As if the new flash had been erased as well.
    let moves = CYCLES * u64::from(leagues) * 2 * MATCHES as u64 / u64::from(film_most + 1);
    let lasts = CYCLES * u64::from(leagues - before) / u64::from(ROUNDS);
    println!("{leagues} leagues of {PLAYERS} players, {MATCHES} matches each, in {SECTORS} sectors of {SECTOR} bytes:");
    println!("each sector was erased {least} to {most} times; {fewest} past leagues are readable");
    println!("at {CYCLES} erases a sector this flash lasts {lasts} leagues");
    println!(
        "each of the film's {FILM_SECTORS} sectors was erased {film_least} to {film_most} times: it lasts {moves} moves"
    );

    let readme = std::fs::read_to_string(here("../README.md")).expect("a README");
    let number = |before: &str| -> u64 {
        let (_, text) = readme.split_once(before).unwrap_or_else(|| panic!("README.md does not say `{before}`"));
        let digits = text.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(char::is_ascii_digit);
        digits.collect::<String>().parse().expect("a number")
    };
    assert!(lasts >= number("a flash lasts more than "), "README.md promises more than {lasts} leagues");
    assert!(
        moves >= 1_000_000 * number("The 256 KB for every move last "),
        "README.md promises more than {moves} moves"
    );
    assert!(fewest as u64 >= number("keeps at least "), "README.md promises more than {fewest} past leagues");
}
