//! Who is kept out, beside those without the admin code: web pages from elsewhere, which could use a browser inside the
//! network as their hand; and those who ask or register more than a whole class would.
//!
//! What is held against an address is an *account*. Some accounts are remembered; one is forgotten only when nothing is
//! held against it any more, so that forgetting changes nothing. Whoever finds no room shares one of a few accounts with
//! others like it: many addresses gain nothing by being many.
//!
//! The right admin code opens, whatever is held against whom: it is compared before anything is counted. Else whoever guesses
//! could lock the owner out. So it is their length that keeps codes from being guessed. Each that is tried takes a connection,
//! and who tries many is told to wait, and longer each time; nobody else is.
//!
//! Bodies need no limit here. A request is held in the buffer of the slot that reads it, or one lent to it, and nowhere else, so all
//! of them together take what the board lends; what does not fit one is refused before it is read.

use core::hint::black_box;
use core::net::IpAddr;

use heapless::Vec;
use protocol_core::time::Millis;

use crate::http::Request;

/// Addresses that are remembered.
const REMEMBERED: usize = 8;
/// Accounts of those for whom there was no room.
const SHARED: usize = 8;

/// Ticks in a second. They begin anew after twelve days, and nothing is ever held against anybody for so long.
const SECOND: u32 = 4096;

/// Wrong codes that are put down to typing.
const FREE: u8 = 5;
/// The first wait. It doubles with every wrong code …
const FIRST_WAIT: u32 = SECOND;
/// … up to this.
const LONGEST_WAIT: u32 = 60 * SECOND;
/// A wrong code is forgiven after so long.
const FORGIVEN_AFTER: u32 = 600 * SECOND;

/// Requests an address may make in a second for every player there is room for: a whole class may sit behind one. The
/// players of a league send two messages a match, if any; a page that is looked at makes four requests a second.
const REQUESTS: u32 = 8;
/// A small box lets no fewer pass than one for a class does.
const CLASS: u32 = 32;
/// No box has room for more players.
const LARGEST: u32 = 1000;
/// Requests of so many seconds may come at once.
const REQUESTS_AT_ONCE: u32 = 2 * SECOND;
/// So many bytes of a long answer are as much work as another request.
const REQUEST_BYTES: usize = 1024;
/// A class registers at once. After that one more player is let in every so often, because every one is written to flash.
const REGISTRATION: u32 = 2 * SECOND;

/// What every box is called in its network, beside its own name.
const NAME: &str = "leaguebox";

/// Whether a browser sent this for a page that is not the box's own: one from elsewhere, or one that has made its own name lead
/// here. Who is no browser names no origin.
pub(crate) fn is_from_elsewhere(request: &Request<'_>, name: &str) -> bool {
    let Some(origin) = request.header("origin") else { return false };
    let origin = origin.split_once("://").map(|(_, authority)| authority);
    let own = request.header("host").filter(|host| is_own(host, name));
    !origin.zip(own).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
}

/// Whether somebody sent this to a name that is not the box's.
pub(crate) fn is_for_another(request: &Request<'_>, name: &str) -> bool {
    request.header("host").is_some_and(|host| !is_own(host, name))
}

/// Compares without telling, by the time it takes, how much was right or how long it would have to be.
pub(crate) fn is_same(given: &str, code: &str) -> bool {
    /// No code is longer.
    const LONGEST: usize = 64;
    let at = |text: &str, place: usize| text.as_bytes().get(place).map_or(0x100, |&byte| u16::from(byte));
    let differs = (0..LONGEST).fold(0, |sum, place| sum | black_box(at(given, place) ^ at(code, place)));
    black_box(differs) == 0 && given.len() <= LONGEST && !code.is_empty()
}

/// Whether a `Host` is an address, `localhost`, or the box's name with or without `.local`.
fn is_own(host: &str, name: &str) -> bool {
    if let Some((address, port)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        return address.parse::<IpAddr>().is_ok() && (port.is_empty() || port.starts_with(':'));
    }
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let host = host.strip_suffix('.').unwrap_or(host);
    let local = host.len().checked_sub(".local".len()).and_then(|at| host.split_at_checked(at));
    let label = local.filter(|(_, local)| local.eq_ignore_ascii_case(".local")).map_or(host, |(label, _)| label);
    host.parse::<IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || [NAME, name].iter().any(|own| label.eq_ignore_ascii_case(own))
}

/// Where the box was asked: an address or name of its own, and its port with a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Host<'a> {
    pub name: &'a str,
    pub port: &'a str,
}

/// Where a request says the box is, if that is one of its own addresses or names. What it says is repeated to agents, who
/// may put it into a command line, so nothing but a host and a number is taken.
pub(crate) fn own_host<'a>(request: &Request<'a>, name: &str) -> Option<Host<'a>> {
    read_host(request.header("host")?, name)
}

fn read_host<'a>(host: &'a str, name: &str) -> Option<Host<'a>> {
    let end = host.rfind(']').unwrap_or(0);
    let colon = host.get(end..)?.find(':').map(|at| end.saturating_add(at));
    let (before, port) = host.split_at_checked(colon.unwrap_or(host.len()))?;
    let digits = port.strip_prefix(':').unwrap_or("80");
    let is_port = digits.bytes().all(|digit| digit.is_ascii_digit()) && digits.parse::<u16>().is_ok();
    // The default port is said too: some programs want one.
    let port = if port.is_empty() { ":80" } else { port };
    (is_port && is_own(before, name) && before.is_ascii()).then_some(Host { name: before, port })
}

/// Whether the body says it is something else than JSON, as the forms of web pages do.
pub(crate) fn is_not_json(request: &Request<'_>) -> bool {
    let kind = request.header("content-type").and_then(|kind| kind.split(';').next());
    !request.body.is_empty() && kind.is_some_and(|kind| !kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Not before so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Later(pub u32);

/// What is held against whom.
pub(crate) struct Guard {
    known: Vec<(IpAddr, Account), REMEMBERED>,
    /// All who found no room.
    others: [Account; SHARED],
    /// Wrong codes so far, whoever tried them.
    pub wrong_codes: u32,
    /// Requests and registrations that were too many, so far.
    pub too_many: u32,
    /// The tick at which polls that came too soon, whoever made them, are paid off.
    polls: u32,
}

/// What is held against an address: each a tick, and nothing once that is past. A tick further away than it can have been
/// set is one of the past.
struct Account {
    /// Its requests are paid off.
    requests: u32,
    /// Its registrations are.
    registrations: u32,
    /// It has waited long enough for its wrong codes.
    guess: u32,
    /// Wrong codes in a row.
    wrong: u8,
}

/// A tick as far as it lies ahead; one of the past does not.
fn ahead(of: u32, now: u32, at_most: u32) -> u32 {
    Some(of.wrapping_sub(now)).filter(|&ahead| ahead <= at_most).unwrap_or(0)
}

/// How long it takes until one more of something fits, each of which takes `each` to be paid off, into `room`.
fn until_room(paid: u32, now: u32, each: u32, room: u32) -> Result<u32, Later> {
    let after = ahead(paid, now, room).saturating_add(each);
    match after.checked_sub(room).filter(|&more| more > 0) {
        None => Ok(now.wrapping_add(after)),
        Some(more) => Err(Later(more.div_ceil(SECOND))),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::arithmetic_side_effects,
    reason = "64 bits and 32 make 96, and ticks wrap around"
)]
fn ticks(now: Millis) -> u32 {
    (u128::from(now) * u128::from(SECOND) / 1000) as u32
}

fn class(players: usize) -> u32 {
    u32::try_from(players).unwrap_or(LARGEST).clamp(CLASS, LARGEST)
}

/// A number by which addresses are told apart, more or less.
fn shared(who: IpAddr) -> usize {
    let sum = |octets: &[u8]| octets.iter().fold(0, |sum: u8, octet| sum.wrapping_mul(31).wrapping_add(*octet));
    usize::from(match who {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    })
}

/// What a request costs, in ticks.
fn each(players: usize) -> u32 {
    SECOND.checked_div(REQUESTS.saturating_mul(class(players))).unwrap_or(0).max(1)
}

impl Account {
    const fn new(now: u32) -> Self {
        Self { requests: now, registrations: now, guess: now, wrong: 0 }
    }

    /// It owes so many requests more. It never has to pay off more than it may make at once.
    fn owe(&mut self, now: u32, requests: u32, players: usize) {
        let owes = ahead(self.requests, now, REQUESTS_AT_ONCE).saturating_add(requests.saturating_mul(each(players)));
        self.requests = now.wrapping_add(owes.min(REQUESTS_AT_ONCE));
    }

    /// How long it has to wait for its wrong codes.
    fn waits(&self, now: u32) -> u32 {
        ahead(self.guess, now, LONGEST_WAIT)
    }

    /// Whether it is as good as new, but for its wrong codes: these keep nobody else from an account.
    fn is_clean(&self, now: u32) -> bool {
        let registrations = ahead(self.registrations, now, LARGEST * REGISTRATION);
        ahead(self.requests, now, REQUESTS_AT_ONCE) == 0 && registrations == 0
    }
}

impl Guard {
    pub const fn new() -> Self {
        Self { known: Vec::new(), others: [const { Account::new(0) }; SHARED], wrong_codes: 0, too_many: 0, polls: 0 }
    }

    /// The account of an address, and whether it is its own. A new one takes the place of one that is clean.
    fn account(&mut self, who: IpAddr, now: u32) -> (&mut Account, bool) {
        let who = who.to_canonical();
        let place = self.known.iter().position(|(known, _)| *known == who).or_else(|| {
            let room = self.known.push((who, Account::new(now))).is_ok();
            let clean = || self.known.iter().position(|(_, account)| account.is_clean(now));
            let place = if room { self.known.len().checked_sub(1) } else { clean() };
            if let Some(known) = place.and_then(|place| self.known.get_mut(place)) {
                *known = (who, Account::new(now));
            }
            place
        });
        match place.and_then(|place| self.known.get_mut(place)) {
            Some((_, account)) => (account, true),
            // There are so many of them.
            None => {
                #[expect(clippy::indexing_slicing, reason = "the remainder is below their number")]
                let account = &mut self.others[shared(who) % SHARED];
                (account, false)
            }
        }
    }

    /// Somebody makes a request of a box with room for so many players. Who sits at the box itself may make as many as it
    /// likes.
    pub fn request(&mut self, now: Millis, who: IpAddr, players: usize) -> Result<(), Later> {
        if who.to_canonical().is_loopback() {
            return Ok(());
        }
        let now = ticks(now);
        let each = each(players);
        let (account, _) = self.account(who, now);
        match until_room(account.requests, now, each, REQUESTS_AT_ONCE) {
            Ok(paid) => {
                account.requests = paid;
                Ok(())
            }
            Err(later) => Err(self.refused(later)),
        }
    }

    /// Whether there is time for one more poll that comes too soon.
    pub fn has_time(&self, now: Millis) -> bool {
        ahead(self.polls, ticks(now), 2 * SECOND) < SECOND
    }

    /// Such a poll was answered, of a box that has time for so many in a second.
    pub fn hurried(&mut self, now: Millis, spare: u32) {
        let (now, each) = (ticks(now), SECOND.checked_div(spare).unwrap_or(SECOND));
        self.polls = now.wrapping_add(ahead(self.polls, now, 2 * SECOND).saturating_add(each).min(2 * SECOND));
    }

    /// Somebody had a piece of a long answer made for it. What it costs is held against it as requests would be.
    pub fn pay(&mut self, now: Millis, who: IpAddr, players: usize, bytes: usize) {
        let now = ticks(now);
        if !who.to_canonical().is_loopback() {
            let requests = u32::try_from(bytes.div_ceil(REQUEST_BYTES)).unwrap_or(u32::MAX);
            self.account(who, now).0.owe(now, requests, players);
        }
    }

    /// Somebody makes a request with a wrong admin code. After some of them it is told to wait.
    pub fn wrong_code(&mut self, now: Millis, who: IpAddr, players: usize) -> Result<(), Later> {
        self.wrong_codes = self.wrong_codes.saturating_add(1);
        self.request(now, who, players)?;
        let now = ticks(now);
        let (account, is_own) = self.account(who, now);
        let waits = account.waits(now);
        if waits > 0 {
            return Err(Later(waits.div_ceil(SECOND)));
        }
        if is_own {
            let is_forgiven = now.wrapping_sub(account.guess) > FORGIVEN_AFTER;
            account.wrong = if is_forgiven { 1 } else { account.wrong.saturating_add(1) };
            let wait = account.wrong.checked_sub(FREE).map_or(0, |more| LONGEST_WAIT.min(FIRST_WAIT << more.min(16)));
            account.guess = now.wrapping_add(wait);
        }
        Ok(())
    }

    /// Whether somebody may register one more player, if that is what it wants: asked last, because it takes a while to see.
    pub fn may_register(
        &mut self,
        now: Millis,
        who: IpAddr,
        players: usize,
        wants_to: impl FnOnce() -> bool,
    ) -> Result<(), Later> {
        match self.registration(now, who, players) {
            Err(later) if wants_to() => Err(self.refused(later)),
            _ => Ok(()),
        }
    }

    /// Somebody has registered one more player.
    pub fn registered(&mut self, now: Millis, who: IpAddr, players: usize) {
        if let Ok(paid) = self.registration(now, who, players) {
            self.account(who, ticks(now)).0.registrations = paid;
        }
    }

    fn registration(&mut self, now: Millis, who: IpAddr, players: usize) -> Result<u32, Later> {
        let now = ticks(now);
        if who.to_canonical().is_loopback() {
            return Ok(now);
        }
        let room = class(players).saturating_mul(REGISTRATION);
        until_room(self.account(who, now).0.registrations, now, REGISTRATION, room)
    }

    fn refused(&mut self, later: Later) -> Later {
        self.too_many = self.too_many.saturating_add(1);
        later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};

    fn address(last: u16) -> IpAddr {
        let [high, low] = last.to_be_bytes();
        Ipv4Addr::new(10, 0, high, low).into()
    }

    #[test]
    fn only_the_whole_code_is_the_code() {
        assert!(is_same("open sesame", "open sesame") && is_same(&"x".repeat(64), &"x".repeat(64)));
        for wrong in ["", "open sesam", "open sesame!", "Open sesame", "open sesame\0"] {
            assert!(!is_same(wrong, "open sesame"), "{wrong}");
        }
        assert!(!is_same(&"x".repeat(65), &"x".repeat(64)));
        assert!(!is_same("", ""), "no code opens nothing");
    }

    #[test]
    fn who_guesses_waits_longer_and_longer_up_to_a_minute() {
        for begun in [0, 12 * 86_400_000 + 11_000_000, u64::from(u32::MAX)] {
            let (mut guard, mut now, mut waits) = (Guard::new(), begun, std::vec::Vec::new());
            for _ in 0..14 {
                assert_eq!(guard.wrong_code(now, address(1), 32), Ok(()));
                let told = guard.wrong_code(now, address(1), 32);
                let seconds = told.map_or_else(|Later(seconds)| seconds, |()| 0);
                waits.push(seconds);
                now += Millis::from(seconds) * 1000 + 1;
            }
            assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]);
            assert_eq!(guard.wrong_codes, 28);
            // Ten minutes later it is a stranger again.
            assert!((0..5).all(|_| guard.wrong_code(now + 661_000, address(1), 32).is_ok()));
        }
    }

    #[test]
    fn nobody_waits_or_is_too_many_because_others_guess() {
        let mut guard = Guard::new();
        // More than are remembered, so that whoever comes later finds no room, or the place of one of them.
        for who in 0..40 {
            (0..20).for_each(|_| _ = guard.wrong_code(0, address(who), 32));
        }
        assert_eq!(guard.wrong_codes, 800);
        for who in 1000..1100 {
            assert_eq!(guard.request(0, address(who), 32), Ok(()), "{who}");
        }
        assert_eq!(guard.wrong_code(0, address(2000), 32), Ok(()), "the first of the owner's own");
    }

    #[test]
    fn a_long_page_is_paid_for_by_the_kilobyte_and_never_for_longer_than_two_seconds() {
        let mut guard = Guard::new();
        guard.pay(0, address(1), 32, 256 * 1024);
        let passed = (0..1_000).filter(|_| guard.request(0, address(1), 32).is_ok()).count();
        assert!((250..=256).contains(&passed), "{passed}");
        guard.pay(0, address(1), 32, usize::MAX);
        assert_eq!(guard.request(0, address(1), 32), Err(Later(1)));
        assert_eq!(guard.request(0, address(2), 32), Ok(()));
        assert_eq!(guard.request(2_000, address(1), 32), Ok(()));
    }

    #[test]
    fn one_that_hammers_and_finds_no_room_takes_few_with_it() {
        let mut guard = Guard::new();
        for who in 0..=8 {
            (0..1_000).for_each(|_| _ = guard.request(0, address(who), 32));
        }
        let refused = (100..200).filter(|&who| guard.request(0, address(who), 32).is_err()).count();
        assert!(refused <= 100 / SHARED + 1, "{refused}");
    }

    #[test]
    fn a_class_behind_one_address_is_never_too_many_and_one_that_hammers_is() {
        let mut guard = Guard::new();
        // 32 agents and a page each, for a minute.
        for now in (0..60_000).step_by(5) {
            assert_eq!(guard.request(now, address(1), 32), Ok(()), "{now}");
        }
        let passed = (0..2_000).filter(|_| guard.request(60_000, address(1), 32).is_ok()).count();
        assert!((500..=512).contains(&passed), "{passed} at once");
        assert_eq!(guard.request(60_000, address(1), 32), Err(Later(1)));
        assert_eq!(guard.request(60_000, address(2), 32), Ok(()), "nobody else waits");
        assert!(guard.too_many > 1_400);
        let passed =
            (60_000..61_000).flat_map(|now| [now; 4]).filter(|&now| guard.request(now, address(1), 32).is_ok());
        assert!((250..=257).contains(&passed.count()), "then 256 a second");
        assert!((0..100_000).all(|_| guard.request(0, Ipv6Addr::LOCALHOST.into(), 32).is_ok()), "the computer itself");
    }

    #[test]
    fn a_class_registers_at_once_and_then_one_player_every_two_seconds() {
        let mut guard = Guard::new();
        let mut register = |now, who| {
            let may = guard.may_register(now, who, 32, || true);
            may.map(|()| guard.registered(now, who, 32))
        };
        assert!((0..32).all(|_| register(0, address(1)).is_ok()));
        assert_eq!(register(0, address(1)), Err(Later(2)));
        assert_eq!(register(2_000, address(1)), Ok(()));
        assert_eq!(register(2_000, address(1)), Err(Later(2)));
        assert_eq!(register(2_000, address(2)), Ok(()));
        assert!((0..2_000).all(|_| register(0, Ipv4Addr::LOCALHOST.into()).is_ok()));
    }

    #[test]
    fn an_address_is_forgotten_only_when_nothing_is_held_against_it() {
        let mut guard = Guard::new();
        (0..32).for_each(|_| guard.registered(0, address(0), 32));
        for now in (1..60).map(|second| second * 1000) {
            for who in 1..500 {
                assert_eq!(guard.request(now, address(who), 512), Ok(()));
            }
            assert!(guard.known.iter().any(|(known, _)| *known == address(0)), "{now}");
        }
        assert_eq!(guard.known.len(), REMEMBERED);
    }

    #[test]
    fn where_the_box_was_asked_is_repeated_only_if_it_is_its_own_and_can_do_no_harm() {
        for (host, name, port) in [
            ("10.0.0.1:8000", "10.0.0.1", ":8000"),
            ("10.0.0.1", "10.0.0.1", ":80"),
            ("[fe80::1]:8000", "[fe80::1]", ":8000"),
            ("[fe80::1]", "[fe80::1]", ":80"),
            ("leaguebox.local", "leaguebox.local", ":80"),
            ("LeagueBox-3f1a:8000", "LeagueBox-3f1a", ":8000"),
        ] {
            assert_eq!(read_host(host, "leaguebox-3f1a"), Some(Host { name, port }), "{host}");
        }
        for other in [
            "evil.example:8000",
            "10.0.0.1:8000;rm -rf",
            "10.0.0.1:$(id)",
            "10.0.0.1:",
            "10.0.0.1:99999",
            "10.0.0.1:+80",
            "[fe80::1]evil:8000",
            "[::1]x",
            "`id`",
            "]:80",
            "",
            ":8000",
        ] {
            assert_eq!(read_host(other, "leaguebox-3f1a"), None, "{other}");
        }
    }

    #[test]
    fn the_box_is_called_by_its_address_or_its_own_name() {
        for own in [
            "10.0.0.1",
            "10.0.0.1:8000",
            "[fe80::1]",
            "[::1]:8000",
            "localhost:8010",
            "LocalHost",
            "leaguebox",
            "leaguebox.local:8000",
            "LEAGUEBOX.LOCAL.",
            "leaguebox-3f1a.local",
            "leaguebox-3f1a",
        ] {
            assert!(is_own(own, "leaguebox-3f1a"), "{own}");
        }
        for other in [
            "evil.example",
            "leaguebox.evil.example",
            "10.0.0.1.evil.example",
            "leaguebox.local.evil.example:8000",
            "leaguebox-3f1b.local",
            ".local",
            "local",
            "localhost.local",
            "[evil.example]",
            "[::1].evil.example",
            "",
            ":8000",
            "שלום.local",
        ] {
            assert!(!is_own(other, "leaguebox-3f1a"), "{other}");
        }
    }
}
