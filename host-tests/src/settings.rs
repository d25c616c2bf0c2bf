//! What a test asks of a box before its league. The desktop is told by its command line, a board by its admin's page.

use serde_json::{Value, json};

/// The desktop's settings, by the names of `POST /api/admin/settings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// What is played.
    pub game: &'static str,
    /// `lenient` or `strict`.
    pub mode: &'static str,
    /// How many players start the league by registering.
    pub start_at: Option<usize>,
    /// How long a player may take to join.
    pub join_timeout_ms: u32,
    /// How long a player may take to move.
    pub move_timeout_ms: u32,
    /// The first wait before a call is repeated.
    pub retry_base_ms: u32,
    /// How long an agent of League of Agents may take for its first move of a game,
    pub first_turn_timeout_ms: u32,
    /// and for every later one.
    pub turn_timeout_ms: u32,
    /// So many players may come from one address; else what leaves a quarter of the seats to others.
    pub per_address: Option<usize>,
    /// Whether others may referee, and how many seconds more than their players have.
    pub foreign_referees: Option<u8>,
    /// What decides every draw.
    pub seed: Option<[u8; 32]>,
}

/// So many players from one address fit every box that was told nothing.
const USUAL: usize = 24;

impl Default for Settings {
    /// Those of a box nobody has told anything.
    fn default() -> Self {
        Settings {
            game: "even_odd",
            mode: "lenient",
            start_at: None,
            join_timeout_ms: 5_000,
            move_timeout_ms: 30_000,
            retry_base_ms: 1_000,
            first_turn_timeout_ms: 180_000,
            turn_timeout_ms: 90_000,
            per_address: None,
            foreign_referees: None,
            seed: None,
        }
    }
}

impl Settings {
    /// The league starts by itself when this many players are registered. A test's players all live at one address.
    pub fn start_at(players: usize) -> Settings {
        Settings { start_at: Some(players), ..Settings::room_for(players) }
    }

    /// So many players may come from the address of the test.
    pub fn room_for(players: usize) -> Settings {
        Settings { per_address: Some(players).filter(|&players| players > USUAL), ..Settings::default() }
    }

    /// The body of `POST /api/admin/settings`. Says everything, so that nothing stays from the test before.
    pub fn body(&self) -> Value {
        let mut body = json!({
            "game": self.game, "mode": self.mode, "start_at": self.start_at, "join_timeout_ms": self.join_timeout_ms,
            "move_timeout_ms": self.move_timeout_ms, "retry_base_ms": self.retry_base_ms,
            "first_turn_timeout_ms": self.first_turn_timeout_ms, "turn_timeout_ms": self.turn_timeout_ms,
            "per_address": self.per_address, "foreign_referees": self.foreign_referees,
        });
        if let Some(seed) = self.seed {
            body["seed"] = json!(hex(&seed));
        }
        body
    }

    /// The same on the desktop's command line: a flag per setting, spelled alike.
    pub fn flags(&self) -> Vec<String> {
        let Value::Object(settings) = self.body() else { unreachable!("it is an object") };
        let told = settings.into_iter().filter(|(_, value)| !value.is_null());
        told.map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("--{}={text}", name.replace('_', "-"))
        })
        .collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_spelled_alike_on_the_command_line_and_in_json() {
        let settings = Settings { seed: Some([7; 32]), move_timeout_ms: 1500, ..Settings::start_at(32) };
        let flags = settings.flags();
        let seed = format!("--seed={}", "07".repeat(32));
        for flag in ["--start-at=32", "--per-address=32", "--move-timeout-ms=1500", "--game=even_odd", &seed] {
            assert!(flags.iter().any(|given| given == flag), "{flag} in {flags:?}");
        }
        assert_eq!(settings.body()["start_at"], 32);
        assert!(!Settings::default().flags().iter().any(|flag| flag.starts_with("--start-at")));
        assert!(Settings::default().body()["start_at"].is_null(), "a board is told that it is off");
    }
}
