//! The journal on a flash that dies: after a power cut at any byte of a story of several leagues, the journal opens and
//! holds exactly what was acknowledged.

use std::net::{IpAddr, Ipv4Addr};

use appliance::journal::ram::RamFlash;
use appliance::journal::{FRAME, Log, Trouble, commit, restore, sectors_of_a_league};
use embassy_futures::block_on;
use protocol_core::fair::Seed;
use protocol_core::journal::frame::{FRAME_BYTES, HEADER_BYTES, entries_of, length_of};
use protocol_core::json::Slice;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Player, Space, Stage, Venue, Via};
use serde_json::{Value, json};

type Small = Venue<'static>;
type Flash = RamFlash<Vec<u8>>;

const SECTOR: usize = 2048;
/// Sectors that hold a whole story.
const ROOMY: usize = 16;
const NOW: Now = Now { ms: 5, utc: Utc(1_736_937_000) };

fn flash(sectors: usize) -> Flash {
    RamFlash::new(vec![0xff; sectors * SECTOR])
}

#[test]
fn a_flash_in_memory_has_power_for_ever() {
    use embedded_storage_async::nor_flash::NorFlash;
    let mut flash = flash(1);
    block_on(flash.write(0, &[0; 64])).unwrap();
    block_on(flash.erase(0, SECTOR as u32)).unwrap();
    assert_eq!(flash.power, u32::MAX, "the film of a computer without a journal would end after 4 GB");
}

fn new_venue(seed: u8) -> Small {
    let config = Config { endpoint: "http://10.0.0.1:8000/mcp".try_into().unwrap(), ..Config::default() };
    Venue::new(
        Box::leak(Box::new(Space::<4, 2, 6, 16, 4096, 16_384>::new())).lend(),
        config,
        Seed([seed; 32]),
        Seed([seed ^ 0xff; 32]),
    )
}

/// Where a player is called.
fn port(player: &Player) -> u16 {
    player.contact.endpoint().unwrap().port
}

/// What a venue knows that must not be lost: who is in with which token, what was played, what stage it is in.
fn known(venue: &Small) -> Vec<String> {
    let mut known: Vec<String> = venue
        .players()
        .iter()
        .map(|player| format!("{} {} {} {}", player.number, player.name, player.contact, player.contact.given()))
        .collect();
    known.extend((1..=venue.schedule().rounds()).flat_map(|round| venue.matches_of(round)).filter_map(|id| {
        let record = venue.record(id)?;
        Some(format!("{id} {record:?}"))
    }));
    known.push(format!("{} {}", venue.league_id(), venue.stage() == Stage::Waiting));
    known
}

/// A box with a journal, and what it has acknowledged.
struct Story {
    venue: Small,
    log: Log<Flash>,
    tokens: Vec<Value>,
    /// What the venue knew when everything was last in flash.
    safe: Vec<String>,
    /// Leagues that had ended by then, oldest first, with their final standings.
    ended: Vec<League>,
    cuts: u32,
    steps: u32,
}

/// Which league, and the lines of its standings.
type League = (u32, Vec<String>);

fn ending(venue: &mut Small) -> League {
    venue.refresh_standings();
    (venue.league_id().number, venue.standings().map(|row| format!("{row:?}")).collect())
}

/// Every league of the past that is in the flash, oldest first.
fn past(log: &mut Log<Flash>) -> Vec<League> {
    let (mut buf, mut before, mut leagues) = ([0; FRAME], u32::MAX, Vec::new());
    while let Some(past) = block_on(log.past(before, &mut buf)).unwrap() {
        let (mut lines, mut next) = (Vec::new(), past.first);
        for _ in 0..past.ended.players {
            let line = block_on(log.line(next, &mut buf, |row| lines.push(format!("{row:?}")))).unwrap();
            next = line.unwrap_or(next);
        }
        assert_eq!(lines.len(), usize::from(past.ended.players), "what is listed is whole");
        assert_eq!((past.ended.matches, past.ended.at), (3, NOW.utc));
        leagues.insert(0, (past.ended.league, lines));
        before = past.before;
    }
    leagues
}

/// The power was cut.
#[derive(Debug)]
struct Cut;

impl Story {
    fn begin(flash: Flash) -> Self {
        let mut story = Self {
            venue: new_venue(1),
            log: Log::new(flash),
            tokens: Vec::new(),
            safe: Vec::new(),
            ended: Vec::new(),
            cuts: 0,
            steps: 0,
        };
        let mut buf = [0; FRAME];
        assert_eq!(block_on(restore(&mut story.log, &mut story.venue, &mut buf, |_| {})), Ok(false));
        story.venue.keep_facts();
        story
    }

    fn keep(&mut self) -> Result<(), Cut> {
        let mut buf = [0; FRAME];
        self.steps += 1;
        loop {
            match block_on(commit(&mut self.log, &mut self.venue, &mut buf, "code")) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(trouble) => {
                    assert_eq!(self.log.flash_mut().power, 0, "{trouble}");
                    return Err(Cut);
                }
            }
        }
        self.safe = known(&self.venue);
        // Nobody waits for the mark, and what it says is safe already.
        let is_marked = block_on(self.log.seal()).is_ok();
        let ending = ending(&mut self.venue);
        if self.venue.stage() == Stage::Completed && self.ended.last() != Some(&ending) {
            self.ended.push(ending);
        }
        match self.venue.stage() {
            _ if !is_marked => Err(Cut),
            Stage::Running(_) => Ok(()),
            _ => block_on(self.log.prepare(2, &mut buf)).map(|_| ()).map_err(|_| Cut),
        }
    }

    /// Of the leagues that have ended, those that are in the flash are the newest ones, as they were.
    fn check_the_past(&mut self) {
        let mut found = past(&mut self.log);
        // One whose end was being written may be there as well.
        if found.last().map(|last| last.0) > self.ended.last().map(|last| last.0) {
            found.pop();
        }
        assert!(self.ended.ends_with(&found), "found {found:#?}\nended {:#?}", self.ended);
        let has_room = self.log.sectors() >= ROOMY as u32;
        assert!(!has_room || found.len() == self.ended.len(), "{} of {}", found.len(), self.ended.len());
    }

    /// The power comes back: the venue is gone, the flash is not.
    fn restart(&mut self) {
        let pending = known(&self.venue);
        let mut flash = block_on(async { std::mem::replace(&mut self.log, Log::new(flash(4))).into_flash() });
        flash.power = u32::MAX;
        self.venue = new_venue(100 + self.cuts as u8);
        self.log = Log::new(flash);
        self.cuts += 1;
        let mut buf = [0; FRAME];
        let mut code = String::new();
        match block_on(restore(&mut self.log, &mut self.venue, &mut buf, |said| code = said.into())) {
            Ok(true) => {
                assert_eq!(code, "code");
                let found = known(&self.venue);
                let is_safe = found == self.safe;
                // What was being written may be there as well: nobody has been told, but it is true.
                let is_more = found.iter().all(|known| pending.contains(known))
                    && (self.safe.iter().all(|known| found.contains(known)) || found.last() != self.safe.last());
                assert!(is_safe || is_more, "found {found:#?}\nsafe {:#?}\npending {pending:#?}", self.safe);
                self.check_the_past();
                self.venue.resume(NOW);
            }
            Ok(false) => {
                assert!(self.safe.is_empty(), "nothing was acknowledged");
                self.venue.keep_facts();
            }
            Err(trouble) => panic!("a power cut is no damage: {trouble}"),
        }
        self.keep().expect("the power stays");
    }

    fn register(&mut self, name: &str, port: u16) -> Result<(), Cut> {
        let body = json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":{"player_meta":{
            "display_name":name,"version":"1.0.0","contact_endpoint":format!("http://localhost:{port}/mcp")}}});
        let body = body.to_string();
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));
        let answer = self.venue.request(NOW, from, Via::Register, body.as_bytes());
        let mut buf = [0; 2048];
        let mut sink = Slice::new(&mut buf);
        self.venue.write_answer(&answer, &mut sink).unwrap();
        let answer: Value = serde_json::from_slice(sink.written()).unwrap();
        self.keep()?;
        assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
        self.tokens.push(answer["result"]["auth_token"].clone());
        Ok(())
    }

    fn command(&mut self, command: Command) -> Result<(), Cut> {
        self.venue.command(NOW, command).unwrap();
        self.keep()
    }

    fn play(&mut self) -> Result<(), Cut> {
        loop {
            while self.venue.poll_output().is_some() {}
            let mut calls = (0..self.venue.players().len() as u16)
                .filter_map(|player| self.venue.call(player).map(|call| (player, call.id)));
            let Some((player, call)) = calls.next() else { return Ok(()) };
            let choice = if call % 3 == 0 { "even" } else { "odd" };
            let body = json!({"jsonrpc":"2.0","id":call,"result":{"accept":true,"parity_choice":choice}}).to_string();
            self.venue.handle(NOW, Event::Reply { player, call, status: 200, body: body.as_bytes() });
            self.keep()?;
        }
    }

    /// Two leagues with a rematch each, in a flash that is too small for all of them. Every part can be begun again.
    fn tell(&mut self, from: usize) -> Result<(), (usize, Cut)> {
        self.tell_until(6, from)
    }

    fn tell_until(&mut self, end: usize, from: usize) -> Result<(), (usize, Cut)> {
        for part in from..end {
            let told = match part % 3 {
                0 => self.enter(part),
                1 => self.play(),
                _ => self.replay(),
            };
            told.map_err(|cut| (part, cut))?;
        }
        Ok(())
    }

    /// The class comes in, if it is not, and the league begins, if it has not.
    fn enter(&mut self, part: usize) -> Result<(), Cut> {
        let first_port = 8000 + part as u16 * 10;
        let is_ours = |venue: &Small| venue.players().iter().all(|player| port(player) >= first_port);
        if self.venue.stage() == Stage::Completed || !is_ours(&self.venue) {
            self.command(Command::Reset)?;
        }
        for i in 0..3 {
            if !self.venue.players().iter().any(|player| port(player) == first_port + i) {
                self.register(&format!("Agent {part} {i} with quite a long name"), first_port + i)?;
            }
        }
        if self.venue.stage() == Stage::Waiting {
            self.command(Command::Start)?;
        }
        Ok(())
    }

    fn replay(&mut self) -> Result<(), Cut> {
        self.play()?;
        // A rematch may have begun before the power was cut.
        if self.venue.league_id().number % 2 == 1 {
            self.command(Command::Rematch)?;
        }
        self.play()
    }
}

#[test]
fn after_a_power_cut_at_any_byte_the_journal_holds_exactly_what_was_acknowledged() {
    let mut whole = Story::begin(flash(4));
    whole.tell(0).expect("the power stays");
    let flash_after = whole.log.into_flash();
    let (bytes, erased) = (flash_after.spent, flash_after.erased);
    assert!(erased >= 2, "the story is longer than the flash: {erased} erases");
    let mut cuts = 0;
    for power in 1..bytes {
        let mut story = Story::begin(Flash { power, ..flash(4) });
        match story.tell(0) {
            Ok(()) => continue,
            Err((part, Cut)) => {
                story.restart();
                cuts += 1;
                story.tell(part).expect("the power stays");
            }
        }
        let results =
            (1..=3).flat_map(|round| story.venue.matches_of(round)).filter(|&id| story.venue.record(id).is_some());
        assert_eq!(results.count(), 3, "power for {power} bytes");
        assert!(story.venue.is_over());
        story.check_the_past();
    }
    println!("{cuts} power cuts in {bytes} bytes and {erased} erases");
    assert!(cuts > 2_000, "{cuts}");
}

#[test]
fn after_a_power_cut_at_any_byte_every_league_that_has_ended_is_readable_from_the_last_reset_or_rematch_on() {
    // A league, a rematch, a reset, and another league.
    const END: usize = 5;
    let mut whole = Story::begin(flash(ROOMY));
    whole.tell_until(END, 0).expect("the power stays");
    whole.check_the_past();
    assert_eq!(whole.ended.iter().map(|league| league.0).collect::<Vec<_>>(), [1, 2, 3]);
    let flash_after = whole.log.into_flash();
    assert_eq!(flash_after.erased, 0, "all of it has room");
    for power in 1..flash_after.spent {
        let mut story = Story::begin(Flash { power, ..flash(ROOMY) });
        let Err((part, Cut)) = story.tell_until(END, 0) else { continue };
        story.restart();
        story.tell_until(END, part).expect("the power stays");
        story.check_the_past();
        // A league that the cut kept from being acknowledged was reset, and none is listed that was not played.
        assert!((2..=3).contains(&story.ended.len()), "power for {power} bytes: {:#?}", story.ended);
    }
}

#[test]
fn the_oldest_leagues_are_dropped_as_room_is_needed() {
    let mut story = Story::begin(flash(6));
    for part in 0..20 {
        story.enter(3 * part).unwrap();
        story.play().unwrap();
        story.check_the_past();
        let kept = past(&mut story.log).len();
        assert!((story.ended.len().min(2)..=story.ended.len()).contains(&kept), "{kept} after {part}");
    }
    assert!(past(&mut story.log).len() < 6, "the first ones are gone");
}

#[test]
fn a_second_cut_while_the_first_is_being_dealt_with_loses_nothing_either() {
    // Every restart says a little more of the same league.
    const SECTORS: usize = 6;
    let mut whole = Story::begin(flash(SECTORS));
    whole.tell(0).expect("the power stays");
    let bytes = whole.log.into_flash().spent;
    for power in (1..bytes).step_by(41) {
        let mut story = Story::begin(Flash { power, ..flash(SECTORS) });
        let mut part = 0;
        let mut more = 300;
        while let Err((cut_in, Cut)) = story.tell(part) {
            story.restart();
            story.log.flash_mut().power = more;
            more += 700;
            part = cut_in;
        }
        assert!(story.venue.is_over());
    }
}

fn reopen(mut flash: Flash) -> Result<bool, Trouble> {
    flash.power = u32::MAX;
    let mut venue = new_venue(9);
    let before = known(&venue);
    let found = block_on(restore(&mut Log::new(flash), &mut venue, &mut [0; FRAME], |_| {}));
    if found.is_err() {
        assert_eq!(known(&venue), before, "a journal that cannot be read leaves no trace in the venue");
        venue.resume(NOW);
        venue.command(NOW, Command::Reset).unwrap();
    }
    found
}

/// A flash with a league in it that is being played.
fn played() -> Flash {
    let mut story = Story::begin(flash(8));
    story.enter(0).unwrap();
    story.play().unwrap();
    story.log.into_flash()
}

#[test]
fn any_changed_byte_is_noticed_or_changes_nothing() {
    let sound = played();
    let mut venue = new_venue(9);
    block_on(restore(&mut Log::new(sound.clone()), &mut venue, &mut [0; FRAME], |_| {})).unwrap();
    let all = known(&venue);
    let end = sound.bytes.iter().rposition(|&byte| byte != 0xff).unwrap() + 1;
    let mut noticed = 0;
    // The first sector is the second place.
    for at in SECTOR..end {
        for mask in [0x10, 0xff] {
            let mut flash = sound.clone();
            flash.bytes[at] ^= mask;
            let mut venue = new_venue(9);
            match block_on(restore(&mut Log::new(flash), &mut venue, &mut [0; FRAME], |_| {})) {
                Err(_) => noticed += 1,
                Ok(true) => assert_eq!(known(&venue), all, "byte {at}"),
                Ok(false) => panic!("byte {at}: a league is not overlooked"),
            }
        }
    }
    assert!(noticed * 10 > (end - SECTOR) * 2 * 8, "{noticed} of {}", (end - SECTOR) * 2);
}

/// Every n-th bit of a journal with three leagues in it, the last of which is being played, is changed: nothing is lost, or
/// it is told and all is kept until the owner decides.
fn flip_every(step: usize) {
    let mut story = Story::begin(flash(ROOMY));
    story.tell_until(4, 0).unwrap();
    let (all, leagues) = (known(&story.venue), past(&mut story.log));
    assert_eq!((leagues.len(), story.venue.league_id().number), (2, 3));
    let sound = story.log.into_flash();
    let (mut told, mut recovered) = (0, 0);
    let bits = (SECTOR * 8..sound.bytes.len() * 8).step_by(step);
    for bit in bits.clone() {
        let mut flash = sound.clone();
        flash.bytes[bit / 8] ^= 1 << (bit % 8);
        let before = flash.bytes.clone();
        let (mut log, mut venue, mut buf) = (Log::new(flash), new_venue(9), [0; FRAME]);
        match block_on(restore(&mut log, &mut venue, &mut buf, |_| {})) {
            Ok(true) => {
                assert_eq!(known(&venue), all, "bit {bit}");
                let found = past(&mut log);
                assert!(found.iter().all(|league| leagues.contains(league)), "bit {bit}");
                let is_sound = block_on(log.past_is_sound(&mut buf)).unwrap();
                assert!(found == leagues || !is_sound, "bit {bit}: a league of the past is lost in silence");
                told += usize::from(!is_sound);
            }
            Ok(false) => panic!("bit {bit}: all is lost in silence"),
            Err(trouble) => {
                assert_eq!(trouble, Trouble::Damaged, "bit {bit}");
                told += 1;
                let empty = known(&venue);
                let offered = block_on(appliance::journal::sound(&mut log, &mut venue, &mut buf));
                assert_eq!(known(&venue), empty, "looking changes nothing");
                assert_eq!(log.flash_mut().bytes, before, "bit {bit}: it is kept");
                // There are leagues before the one that is damaged.
                let offered = offered.unwrap_or_else(|| panic!("bit {bit}: nothing is offered"));
                block_on(log.recover(&mut buf)).unwrap();
                let flash = log.into_flash();
                let kept = before.iter().zip(&flash.bytes).all(|(&before, &now)| before == 0xff || before == now);
                assert!(kept, "bit {bit}: nothing is overwritten");
                let mut log = Log::new(flash);
                assert_eq!(block_on(restore(&mut log, &mut venue, &mut buf, |_| {})), Ok(true), "bit {bit}");
                assert_eq!(venue.league_id().number, offered.league);
                assert_eq!((venue.players().len(), venue.results_kept()), (offered.players.into(), offered.results));
                venue.resume(NOW);
                recovered += usize::from(offered.league == 3);
            }
        }
    }
    println!("{told} of {} bits were told, {recovered} of them left something of the last league", bits.count());
    assert!(told > 0 && recovered > 0);
}

#[test]
fn a_flipped_bit_anywhere_loses_nothing_or_is_told_and_then_all_is_kept_until_the_owner_decides() {
    flip_every(41);
}

#[test]
#[ignore = "takes minutes: every bit instead of some"]
fn every_flipped_bit_loses_nothing_or_is_told_and_then_all_is_kept_until_the_owner_decides() {
    flip_every(1);
}

#[test]
fn a_power_cut_while_a_damaged_journal_is_recovered_leaves_it_to_be_recovered() {
    let mut flash = played();
    // The fourth frame from the end.
    let (mut frames, mut at) = (Vec::new(), SECTOR + HEADER_BYTES);
    while flash.bytes[at + 2] != 0xff {
        frames.push(at);
        at += length_of(entries_of(flash.bytes[at..at + FRAME_BYTES].try_into().unwrap()));
    }
    flash.bytes[frames[frames.len() - 4] + FRAME_BYTES] ^= 4;
    let mut buf = [0; FRAME];
    let offer = |flash: Flash| {
        let (mut log, mut venue) = (Log::new(Flash { power: u32::MAX, ..flash }), new_venue(9));
        let found = block_on(restore(&mut log, &mut venue, &mut [0; FRAME], |_| {}));
        (found, block_on(appliance::journal::sound(&mut log, &mut venue, &mut [0; FRAME])), log)
    };
    let (found, offered, _) = offer(flash.clone());
    assert_eq!(found, Err(Trouble::Damaged));
    let offered = offered.unwrap();
    assert_eq!((offered.league, offered.players), (1, 3));
    for power in 1.. {
        let (_, _, mut log) = offer(flash.clone());
        log.flash_mut().power = power;
        let is_done = block_on(log.recover(&mut buf)).is_ok();
        let (found, again, _) = offer(log.into_flash());
        if is_done {
            assert_eq!(found, Ok(true));
            break;
        }
        // Its last byte may have made it whole.
        assert!(found == Ok(true) || (found, again) == (Err(Trouble::Damaged), Some(offered)), "power for {power}");
    }
}

#[test]
fn a_journal_of_another_version_and_what_is_none_are_told_apart_and_kept() {
    let mut other = played();
    let first = other.bytes.chunks_mut(SECTOR).find(|sector| sector.starts_with(b"LBjr")).unwrap();
    first[4] = 77;
    assert_eq!(reopen(other.clone()), Err(Trouble::OtherVersion(77)));
    let before = other.bytes.clone();
    let mut log = Log::new(other);
    assert!(block_on(log.open(&mut [0; FRAME])).is_err());
    assert_eq!(log.into_flash().bytes, before, "looking changes nothing");
    assert_eq!(reopen(RamFlash::new(vec![0x42; 8 * SECTOR])), Err(Trouble::NotAJournal));
    assert_eq!(reopen(flash(2)), Err(Trouble::TooSmall));
    assert_eq!(reopen(RamFlash::new(Vec::new())), Err(Trouble::TooSmall));
    assert_eq!(reopen(flash(4)), Ok(false));
}

#[test]
fn a_formatted_flash_is_as_good_as_new() {
    for before in [played(), RamFlash::new(vec![0x42; 4 * SECTOR])] {
        let mut log = Log::new(before);
        block_on(log.format()).unwrap();
        let formatted = log.into_flash();
        assert_eq!(reopen(formatted.clone()), Ok(false));
        let mut story = Story::begin(formatted);
        story.tell(0).unwrap();
        assert_eq!(reopen(story.log.into_flash()), Ok(true));
    }
}

#[test]
fn one_league_that_fills_the_flash_is_told_and_nothing_of_it_is_overwritten() {
    let mut story = Story::begin(flash(4));
    story.enter(0).unwrap();
    let mut buf = [0; FRAME];
    let entries = 500;
    let full = (0..100).find_map(|_| {
        // Nobody else writes such entries; that they are kept is enough.
        buf[6] = 12;
        block_on(story.log.append(&mut buf, entries)).err()
    });
    assert_eq!(full, Some(Trouble::Full));
    let flash = story.log.into_flash();
    assert!(flash.bytes.chunks(SECTOR).all(|sector| sector.starts_with(b"LBjr")));
}

#[test]
fn a_sector_that_cannot_be_erased_is_told() {
    let mut story = Story::begin(Flash { bad: Some(1), ..flash(4) });
    let mut buf = [0; FRAME];
    let trouble = loop {
        if story.venue.stage() == Stage::Waiting && story.venue.players().len() < 2 {
            story.venue.keep_facts();
        }
        story.venue.command(NOW, Command::Reset).unwrap();
        match block_on(commit(&mut story.log, &mut story.venue, &mut buf, "code")) {
            Ok(_) => {}
            Err(trouble) => break trouble,
        }
    };
    assert_eq!(trouble, Trouble::Erase);
}

#[test]
fn wear_is_even() {
    let mut story = Story::begin(flash(4));
    let mut buf = [0; FRAME];
    for _ in 0..400 {
        story.venue.command(NOW, Command::Reset).unwrap();
        while block_on(commit(&mut story.log, &mut story.venue, &mut buf, "code")).unwrap().is_some() {}
    }
    let erases = story.log.erases();
    assert_eq!(erases, story.log.flash_mut().erased);
    // The first round through the flash needs none.
    assert!((390..=400).contains(&erases), "{erases}");
    let mut again = Log::new(story.log.into_flash());
    assert_eq!(block_on(again.open(&mut buf)), Ok(true));
    assert!(erases - again.erases() <= 1, "the count outlives a restart");
}

#[test]
fn erases_happen_ahead_so_that_a_whole_league_needs_none() {
    const SECTORS: usize = 24;
    let mut story = Story::begin(flash(SECTORS));
    let wanted = sectors_of_a_league::<Flash>(4, 6);
    assert!(wanted < SECTORS as u32 / 2);
    let mut buf = [0; FRAME];
    for part in 0..60 {
        story.enter(3 * part).unwrap();
        let before = story.log.flash_mut().erased;
        story.play().unwrap();
        assert!(story.log.flash_mut().erased - before <= 1, "only after its end");
        while block_on(story.log.prepare(wanted, &mut buf)).unwrap() {}
    }
    assert!(story.log.flash_mut().erased > 20);
}
