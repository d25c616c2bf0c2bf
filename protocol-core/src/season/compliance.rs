//! Which rules of the protocol a player broke, how often, and the first example. In `lenient` mode this is all that
//! happens; in `strict` mode a broken rule also has its message refused.

use core::fmt::{self, Write};

use heapless::Vec;

use crate::time::timestamp_advice;

/// How much of the first offending example is kept, in bytes.
pub const EXAMPLE_BYTES: usize = 72;
/// How much all examples of one player take.
const EXAMPLES_BYTES: usize = 208;

/// Declares the rules: what each is called in the report and how to keep it.
macro_rules! rules {
    ($($rule:ident $code:literal $advice:literal),+ $(,)?) => {
        /// A rule of the protocol. Journals know a rule by its place here: new ones go to the end.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule { $(#[doc = $advice] $rule),+ }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Rule] = &[$(Rule::$rule),+];

            /// Its name in the report.
            pub fn code(self) -> &'static str {
                match self { $(Rule::$rule => $code),+ }
            }

            /// How to keep it, in a sentence for the student.
            pub fn advice(self) -> &'static str {
                match self { $(Rule::$rule => $advice),+ }
            }
        }
    };
}

rules! {
    NotJson "not_json" "A message is one JSON object.",
    NoEnvelope "no_envelope" "A reply is a JSON-RPC response: {\"jsonrpc\":\"2.0\",\"result\":{…},\"id\":…}.",
    IdMismatch "id_mismatch" "A reply carries the id of the call it answers.",
    ErrorBesideResult "error_beside_result" "A reply has a result or an error, never both; leave out \"error\":null.",
    HttpStatus "http_status" "A reply has HTTP status 200. With 404 or 405 contact_endpoint has the wrong path; with 422 or 500 your server's output says why.",
    ReplyTooLong "reply_too_long" "A reply is short: under 800 bytes fits everywhere.",
    RpcError "rpc_error" "A call the protocol defines is answered with a result, not with an error.",
    MessageType "message_type" "message_type names the message, as the specification spells it.",
    Protocol "protocol" "protocol is \"league.v2\".",
    Sender "sender" "sender is \"player:\" and your player id.",
    TimestampMissing "timestamp_missing" "Every message has a timestamp.",
    TimestampForm "timestamp_form" "A timestamp is UTC and ends in Z: 2025-01-15T10:30:00Z.",
    ConversationId "conversation_id" "conversation_id is there, and an answer repeats that of the call.",
    AuthToken "auth_token" "auth_token is the one you got when you registered.",
    MatchId "match_id" "match_id repeats that of the call.",
    PlayerId "player_id" "player_id is the one the league gave you.",
    AcceptForm "accept_form" "GAME_JOIN_ACK says \"accept\": true or false.",
    ChoiceForm "choice_form" "CHOOSE_PARITY_RESPONSE says \"parity_choice\": \"even\" or \"odd\".",
    ChoiceCase "choice_case" "A choice is written in lower case.",
    MetaMissing "meta_missing" "player_meta has the texts display_name, version and contact_endpoint, and the array game_types.",
    MetaPlace "meta_place" "display_name, version, game_types and contact_endpoint stand inside player_meta.",
    EndpointHost "endpoint_host" "contact_endpoint names an address the box can reach: that of the computer you register from, not localhost.",
    NoAnswer "no_answer" "A call is answered before its deadline.",
    Unreachable "unreachable" "Be there for as long as the league lasts: your server accepts connections at contact_endpoint, or you dial in and come back when the connection breaks.",
    IllegalMove "illegal_move" "A move is one the game allows; /skill.md names the page of each game.",
    NoMove "no_move" "An answer contains what the call asked for.",
    Duplicate "duplicate" "A question is answered once; the first answer stands.",
    Dialect "dialect" "Calls use the method names of the specification.",
    BadRequest "bad_request" "A message to the box is one the protocol defines.",
    NewsUnanswered "news_unanswered" "News is answered too, by any result and within 2 seconds. It costs nothing not to, but nobody waits for you: a question may then come before you have dealt with the news.",
    CircuitBreaker "circuit_breaker" "Five questions in a row, with all their tries, brought no answer: matches then end at once as technical losses. A minute later one is tried; any answer, or dialling in, ends it.",
    TooOften "too_often" "Ask no more often than once a second: every 2 to 5 seconds is best. A heartbeat after your own move is never too soon.",
}

impl Rule {
    /// Whether its example may be the beginning of a reply that is no message of the protocol. It may be anybody's who
    /// listens at the address that is called, so it is shown only to the player and to the owner.
    pub fn quotes_a_reply(self) -> bool {
        use Rule::{AcceptForm, ChoiceForm, HttpStatus, NoMove, NotJson, RpcError};
        matches!(self, NotJson | HttpStatus | RpcError | AcceptForm | ChoiceForm | NoMove)
    }

    /// How to keep it, for whoever broke it with this.
    pub fn advice_on(self, example: &str) -> &'static str {
        let special = if self == Rule::TimestampForm { timestamp_advice(example) } else { None };
        special.unwrap_or(self.advice())
    }
}

/// The report of one player: 272 bytes.
///
/// A player breaks few rules, most of them with something short, so the examples share their room: two of the longest and a
/// few short ones. What is missing is an example of no length. Whoever breaks more than that has them counted all the same,
/// without an example.
#[derive(Clone, Debug)]
pub struct Compliance {
    counts: [u16; Rule::ALL.len()],
    /// Behind each other: the rule, the length of its example, the example.
    examples: Vec<u8, EXAMPLES_BYTES, u16>,
}

impl Compliance {
    /// A clean sheet.
    pub const fn new() -> Self {
        Self { counts: [0; Rule::ALL.len()], examples: Vec::new() }
    }

    /// One more violation. The first one's example is kept, cut where it no longer fits; an empty one says that something is
    /// missing.
    pub fn note(&mut self, rule: Rule, example: impl fmt::Display) {
        self.suspect(rule, example);
        self.convict(rule);
    }

    /// One more violation, of which the example is [kept](Self::suspect) already.
    pub fn convict(&mut self, rule: Rule) {
        if let Some(count) = self.counts.get_mut(rule as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// What may turn out to be a violation: keeps its example, if it is the first.
    pub fn suspect(&mut self, rule: Rule, example: impl fmt::Display) {
        if self.find(rule).is_some() {
            return;
        }
        let before = self.examples.len();
        if self.examples.extend_from_slice(&[rule as u8, 0]).is_ok() {
            let mut cut = Cut { text: &mut self.examples, length: 0 };
            let is_cut = write!(cut, "{example}").is_err();
            let written = cut.length;
            match self.examples.get_mut(before..) {
                // Nothing of it fits, which is not the same as nothing.
                _ if is_cut && written == 0 => self.examples.truncate(before),
                Some([_, length, ..]) => *length = written,
                _ => {}
            }
        }
    }

    /// It turned out to be none.
    #[expect(clippy::arithmetic_side_effects, reason = "an entry that was found lies within the examples")]
    pub fn acquit(&mut self, rule: Rule) {
        if self.counts.get(rule as usize) == Some(&0)
            && let Some((at, example)) = self.find(rule)
        {
            let end = at + 2 + example.len();
            self.examples.copy_within(end.., at);
            self.examples.truncate(self.examples.len() - (end - at));
        }
    }

    /// So many violations were counted before the box was restarted. The example is gone.
    pub fn restore(&mut self, rule: Rule, count: u16) {
        if let Some(place) = self.counts.get_mut(rule as usize) {
            *place = count.max(*place);
        }
    }

    /// The rules that were broken: how often, and the first example.
    pub fn broken(&self) -> impl Iterator<Item = (Rule, u16, &str)> {
        let broken = Rule::ALL.iter().zip(&self.counts).filter(|&(_, &count)| count > 0);
        broken.map(|(&rule, &count)| (rule, count, self.example(rule)))
    }

    fn example(&self, rule: Rule) -> &str {
        match self.find(rule) {
            None => "",
            Some((_, [])) => "missing",
            Some((_, example)) => core::str::from_utf8(example).unwrap_or_default(),
        }
    }

    /// The example of a rule, and where its entry begins.
    #[expect(clippy::arithmetic_side_effects, reason = "`rest` is a tail of the examples")]
    fn find(&self, rule: Rule) -> Option<(usize, &[u8])> {
        let mut rest = self.examples.as_slice();
        while let [of, length, tail @ ..] = rest {
            let at = self.examples.len() - rest.len();
            let (example, tail) = tail.split_at_checked(usize::from(*length)).unwrap_or_default();
            if usize::from(*of) == rule as usize {
                return Some((at, example));
            }
            rest = tail;
        }
        None
    }

    /// How many violations there were in all.
    pub fn total(&self) -> u32 {
        self.counts.iter().map(|&count| u32::from(count)).sum()
    }
}

impl Default for Compliance {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes as much of an example as there is room for and drops the rest.
struct Cut<'a> {
    text: &'a mut Vec<u8, EXAMPLES_BYTES, u16>,
    /// How much was written, in bytes.
    length: u8,
}

impl fmt::Write for Cut<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| {
            let length = usize::from(self.length).saturating_add(c.len_utf8());
            if length > EXAMPLE_BYTES {
                return Err(fmt::Error);
            }
            self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()).map_err(|_| fmt::Error)?;
            self.length = u8::try_from(length).map_err(|_| fmt::Error)?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::vec::Vec;

    #[test]
    fn the_first_example_is_kept_and_every_violation_counted() {
        let mut report = Compliance::new();
        report.note(Rule::ChoiceCase, "EVEN");
        report.note(Rule::ChoiceCase, "Odd");
        assert_eq!(report.broken().collect::<Vec<_>>(), [(Rule::ChoiceCase, 2, "EVEN")]);
        assert_eq!(report.total(), 2);
    }

    #[test]
    fn a_long_example_is_cut_between_characters() {
        let mut report = Compliance::new();
        report.note(Rule::Sender, "שחקן-".repeat(20));
        let (_, _, example) = report.broken().next().unwrap();
        assert!(example.len() <= EXAMPLE_BYTES && example.starts_with("שחקן-"));
    }
    #[test]
    fn whoever_breaks_every_rule_has_every_rule_counted_and_the_first_examples_whole() {
        /// As many as fit, with a byte each for the rule and the length.
        const WHOLE: usize = EXAMPLES_BYTES / (EXAMPLE_BYTES + 2);
        let mut report = Compliance::new();
        for round in 0..2 {
            for rule in Rule::ALL {
                report.note(*rule, format!("{}, seen in round {round}, {}", rule.code(), "again".repeat(20)));
            }
        }
        assert_eq!(report.total(), 2 * Rule::ALL.len() as u32);
        for (at, (rule, count, example)) in report.broken().enumerate() {
            assert_eq!((rule, count), (Rule::ALL[at], 2));
            let whole = format!("{}, seen in round 0, {}", rule.code(), "again".repeat(20));
            assert!(whole.starts_with(example));
            assert_eq!(example.len(), if at < WHOLE { EXAMPLE_BYTES } else { example.len() });
        }
    }
}
