//! How an agent wants to be called. It shows when it registers; where that misleads, the first invitation finds out.

use crate::message::Message;

/// The ways agents speak league.v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `method: "handle_game_invitation"`, flat `params`.
    Canonical,
    /// `method: "GAME_INVITATION"`, flat `params`.
    MessageType,
    /// `method: "handle_message"`, `params: {"message": {…}}`.
    Nested,
    /// `method: "tools/call"`, `params: {"name": …, "arguments": {…}}`.
    McpTools,
    /// The message itself, no JSON-RPC.
    Bare,
    /// `method: "protocol/message"`, `params: {"message": {…}}`, and an invitation is a `GAME_INVITE`. Only who registers
    /// that way is spoken to so; nobody is tried with it.
    ProtocolMessage,
}

impl Dialect {
    /// Those that are tried, one after the other.
    const TRIED: [Dialect; 5] =
        [Dialect::Canonical, Dialect::MessageType, Dialect::Nested, Dialect::McpTools, Dialect::Bare];

    /// The dialect of this number. Journals keep it.
    pub fn of(number: u8) -> Option<Dialect> {
        let known = Self::TRIED.into_iter().chain([Dialect::ProtocolMessage]);
        { known }.find(|&dialect| dialect as u8 == number)
    }

    /// The dialect to try after this one.
    pub fn next(self) -> Dialect {
        if self == Dialect::ProtocolMessage {
            // It registers by a tool.
            return Dialect::McpTools;
        }
        let mut behind = Self::TRIED.into_iter().skip_while(|&other| other != self).skip(1);
        behind.next().unwrap_or(Dialect::Canonical)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Canonical => "canonical",
            Dialect::MessageType => "message_type",
            Dialect::Nested => "nested",
            Dialect::McpTools => "mcp_tools",
            Dialect::Bare => "bare",
            Dialect::ProtocolMessage => "protocol_message",
        }
    }
}

/// How many kinds an agent may know by another name.
pub const KINDS: usize = 10;

impl Message {
    /// The same as it is called in a dialect.
    pub fn type_in(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Message::GameInvitation, Dialect::ProtocolMessage) => "GAME_INVITE",
            _ => self.name(),
        }
    }

    /// Whether a referee says it, or the league manager.
    pub fn is_referees(self) -> bool {
        use Message::*;
        matches!(self, GameInvitation | ChooseParity | MoveRequest | MoveValidation | GameOver | GameError)
    }

    /// Method names to try, the specification's first, then those seen in the wild.
    fn methods(self) -> &'static [&'static str] {
        match self {
            Message::RoundAnnouncement => &["notify_round", "round_announcement", "announce_round"],
            Message::GameInvitation => &["handle_game_invitation", "game_invitation"],
            Message::ChooseParity => &["choose_parity", "parity_choose"],
            Message::MoveRequest => &["request_move"],
            Message::MoveValidation => &["notify_move_validation"],
            Message::GameOver => &["notify_match_result", "notify_game_over", "game_over"],
            Message::GameError => &["notify_game_error"],
            Message::Standings => &["update_standings", "league_standings_update", "notify_standings"],
            Message::RoundCompleted => &["notify_round_completed", "round_completed"],
            Message::LeagueCompleted => &["notify_league_completed", "league_completed"],
            Message::Ping => &["ping"],
            // There are too many ways to say it for one name: see [`way`](super::referees::way).
            Message::MatchAssignment => &[],
        }
    }

    /// Tool names to try on players that expose MCP tools.
    fn tools(self) -> &'static [&'static str] {
        match self {
            Message::GameInvitation => &["receive_game_invitation", "handle_game_invitation"],
            Message::GameOver => &["receive_game_over", "notify_match_result"],
            Message::Standings => &["notify_standings", "update_standings"],
            other => other.methods(),
        }
    }

    /// The name to call it by in a dialect, `None` past the last that is worth a try.
    pub fn method(self, dialect: Dialect, variant: u8) -> Option<&'static str> {
        let once: &[&'static str] = match dialect {
            Dialect::Canonical => self.methods(),
            Dialect::McpTools => self.tools(),
            Dialect::MessageType => return (variant == 0).then(|| self.name()),
            Dialect::Nested | Dialect::Bare => &["handle_message"],
            Dialect::ProtocolMessage => &["protocol/message"],
        };
        once.get(usize::from(variant)).copied()
    }
}

/// How one agent is spoken to, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The dialect it registered in, or the one that worked.
    pub dialect: Dialect,
    /// Whether it has understood a call in that dialect.
    pub confirmed: bool,
    /// Which method name it understood, by kind.
    variants: [u8; KINDS],
    /// Kinds it refuses by every name, a bit each.
    refused: u16,
}

impl Style {
    /// A style not yet confirmed.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, confirmed: false, variants: [0; KINDS], refused: 0 }
    }

    /// The method variant to begin with.
    pub fn variant(&self, kind: Message) -> u8 {
        self.variants.get(kind as usize).copied().unwrap_or(0)
    }

    /// A call in this dialect and variant was understood.
    pub fn confirm(&mut self, kind: Message, dialect: Dialect, variant: u8) {
        if self.dialect != dialect {
            self.forgive();
        }
        self.dialect = dialect;
        self.confirmed = true;
        self.remember(kind, variant);
    }

    /// A method name is unknown to it: that kind is not called by it again, and after the last name not at all.
    pub fn refused(&mut self, kind: Message, dialect: Dialect, variant: u8) {
        if self.dialect != dialect {
            return;
        }
        match kind.method(dialect, variant.saturating_add(1)) {
            Some(_) => self.remember(kind, variant.saturating_add(1)),
            None => self.refused |= bit(kind),
        }
    }

    /// Whether it refuses a kind by every name.
    pub fn refuses(&self, kind: Message) -> bool {
        self.refused & bit(kind) != 0
    }

    /// It may have learnt more since: every kind and name is tried again.
    pub fn forgive(&mut self) {
        (self.variants, self.refused) = ([0; KINDS], 0);
    }

    /// A method name was at least not unknown.
    pub fn remember(&mut self, kind: Message, variant: u8) {
        if let Some(known) = self.variants.get_mut(kind as usize) {
            *known = variant;
        }
    }
}

fn bit(kind: Message) -> u16 {
    1 << kind as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_refused_is_not_used_again_and_after_the_last_nothing_is_said() {
        let mut style = Style::new(Dialect::Canonical);
        for variant in 0..3 {
            assert!(!style.refuses(Message::GameOver));
            assert_eq!(style.variant(Message::GameOver), variant);
            style.refused(Message::GameOver, Dialect::Canonical, variant);
        }
        assert!(style.refuses(Message::GameOver) && !style.refuses(Message::Standings));
        style.refused(Message::Standings, Dialect::Bare, 0);
        assert!(!style.refuses(Message::Standings), "in another dialect it says nothing of this one");
        style.confirm(Message::GameInvitation, Dialect::McpTools, 0);
        assert!(!style.refuses(Message::GameOver), "in another dialect it may be known");
    }

    #[test]
    fn every_dialect_is_tried_once_before_the_first_comes_again() {
        let mut dialect = Dialect::Nested;
        for _ in 0..4 {
            dialect = dialect.next();
            assert_ne!(dialect, Dialect::Nested);
        }
        assert_eq!(dialect.next(), Dialect::Nested);
    }

    #[test]
    fn an_invitation_has_a_name_of_its_own_where_messages_are_of_the_protocol() {
        assert_eq!(Message::GameInvitation.type_in(Dialect::ProtocolMessage), "GAME_INVITE");
        assert_eq!(Message::GameInvitation.method(Dialect::ProtocolMessage, 0), Some("protocol/message"));
        assert_eq!(Message::ChooseParity.type_in(Dialect::ProtocolMessage), "CHOOSE_PARITY_CALL");
        assert_eq!(Dialect::ProtocolMessage.next(), Dialect::McpTools);
        assert!(!Dialect::TRIED.contains(&Dialect::ProtocolMessage), "nobody is tried with it");
    }

    #[test]
    fn the_specified_name_is_tried_first_and_the_list_ends() {
        assert_eq!(Message::GameOver.method(Dialect::Canonical, 0), Some("notify_match_result"));
        assert_eq!(Message::GameOver.method(Dialect::McpTools, 0), Some("receive_game_over"));
        assert_eq!(Message::GameOver.method(Dialect::MessageType, 0), Some("GAME_OVER"));
        assert_eq!(Message::GameOver.method(Dialect::Canonical, 3), None);
        assert_eq!(Message::GameOver.method(Dialect::MessageType, 1), None);
    }
}
