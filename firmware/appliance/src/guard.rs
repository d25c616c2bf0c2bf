//! Who is kept out, beside those without the admin code: web pages from elsewhere, which could use a browser inside the
//! network as their hand, and those who try admin codes.

use core::net::IpAddr;

use heapless::Vec;
use protocol_core::time::Millis;

use crate::http::Request;

/// Addresses whose guesses are remembered; of more, those who guessed last.
const REMEMBERED: usize = 8;
/// Wrong codes that are put down to typing.
const FREE: u32 = 5;
/// The first wait. It doubles with every wrong code …
const FIRST_WAIT_MS: Millis = 1_000;
/// … up to this.
const LONGEST_WAIT_MS: Millis = 60_000;

/// Whether a browser sent this for a page that is not the box's own. Who is no browser names no origin.
pub(crate) fn is_from_elsewhere(request: &Request<'_>) -> bool {
    let Some(origin) = request.header("origin") else { return false };
    let origin = origin.split_once("://").map(|(_, authority)| authority);
    !origin.zip(request.header("host")).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
}

/// Whether the body says it is something else than JSON, as the forms of web pages do.
pub(crate) fn is_not_json(request: &Request<'_>) -> bool {
    let kind = request.header("content-type").and_then(|kind| kind.split(';').next());
    !request.body.is_empty() && kind.is_some_and(|kind| !kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Wrong admin codes, by address: who guesses makes nobody wait but itself.
pub(crate) struct Guesses {
    by: Vec<Guesser, REMEMBERED>,
    /// Wrong codes so far, whoever tried them.
    pub total: u32,
}

struct Guesser {
    who: IpAddr,
    wrong: u32,
    last: Millis,
}

impl Guesser {
    /// When it may try again.
    fn until(&self) -> Millis {
        match self.wrong.checked_sub(FREE) {
            None => self.last,
            Some(more) => self.last.saturating_add(LONGEST_WAIT_MS.min(FIRST_WAIT_MS << more.min(16))),
        }
    }
}

impl Guesses {
    pub const fn new() -> Self {
        Self { by: Vec::new(), total: 0 }
    }

    /// How many seconds `who` has to wait before it may try a code.
    pub fn wait(&self, now: Millis, who: IpAddr) -> Option<u64> {
        let until = self.by.iter().find(|guesser| guesser.who == who)?.until();
        until.checked_sub(now).filter(|&ms| ms > 0).map(|ms| ms.div_ceil(1000))
    }

    /// `who` tried a wrong code.
    pub fn wrong(&mut self, now: Millis, who: IpAddr) {
        self.total = self.total.saturating_add(1);
        if let Some(guesser) = self.by.iter_mut().find(|guesser| guesser.who == who) {
            (guesser.wrong, guesser.last) = (guesser.wrong.saturating_add(1), now);
        } else if let Err(newcomer) = self.by.push(Guesser { who, wrong: 1, last: now })
            && let Some(oldest) = self.by.iter_mut().min_by_key(|guesser| guesser.last)
        {
            *oldest = newcomer;
        }
    }

    /// `who` knows the code.
    pub fn right(&mut self, who: IpAddr) {
        self.by.retain(|guesser| guesser.who != who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    #[test]
    fn who_guesses_waits_longer_and_longer_up_to_a_minute() {
        let (mut guesses, mut now, mut waits) = (Guesses::new(), 0, std::vec::Vec::new());
        for _ in 0..14 {
            guesses.wrong(now, address(1));
            let wait = guesses.wait(now, address(1)).unwrap_or(0);
            waits.push(wait);
            now += wait * 1000;
            assert_eq!(guesses.wait(now, address(1)), None);
        }
        assert_eq!(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        assert_eq!(guesses.total, 14);
    }

    #[test]
    fn who_guesses_makes_nobody_else_wait_and_who_knows_the_code_begins_anew() {
        let mut guesses = Guesses::new();
        for _ in 0..100 {
            guesses.wrong(0, address(1));
        }
        assert_eq!((guesses.wait(0, address(1)), guesses.wait(0, address(2))), (Some(60), None));
        guesses.right(address(2));
        assert_eq!(guesses.wait(0, address(1)), Some(60));
        guesses.right(address(1));
        assert_eq!(guesses.wait(0, address(1)), None);
    }

    #[test]
    fn of_many_who_guess_those_of_longest_ago_are_forgotten() {
        let mut guesses = Guesses::new();
        for who in 0..=REMEMBERED as u8 {
            for _ in 0..10 {
                guesses.wrong(who.into(), address(who));
            }
        }
        assert_eq!(guesses.wait(10, address(0)), None);
        assert!((1..=REMEMBERED as u8).all(|who| guesses.wait(10, address(who)).is_some()));
    }
}
