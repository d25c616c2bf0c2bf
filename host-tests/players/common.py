"""What all test players share: the command line, the log, the league.v2 vocabulary and a way to end.

How a player is called and how it wraps its answers is its dialect, and lives in the player's own file.
"""
import argparse
import json
import os
import random
import signal
import sys
import threading
import time
from datetime import datetime, timezone


def arguments(dialects):
    parser = argparse.ArgumentParser()
    parser.add_argument("--box", required=True, help="http://ADDRESS:PORT")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--dialect", choices=dialects, required=True)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--seconds", type=float, default=0, help="how long a slow player thinks")
    parser.add_argument("--game", default="echo", help="what an agent of the arena asks for")
    return parser.parse_args()


def now():
    return datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")


def end_with_parent():
    """A player never outlives its test: it ends when its standard input closes, or on SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))

    def watch():
        while os.read(0, 4096):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


class Player:
    """Knows what to say, not how to wrap it."""

    def __init__(self, args):
        self.args = args
        self.id = self.token = self.league = None
        self.known = threading.Event()
        self.open_match = None
        self.random = random.Random(args.name)
        self.file = open(args.log, "a", encoding="utf-8")
        self.lock = threading.Lock()
        end_with_parent()
        # A player whose thread fails is of no use to its test: better it ends, and the test sees that.
        threading.excepthook = lambda failure: (sys.__excepthook__(*failure[:3]), os._exit(3))

    def log(self, kind, **fields):
        with self.lock:
            self.file.write(json.dumps({"kind": kind, **fields}) + "\n")
            self.file.flush()

    # Registration ------------------------------------------------------------------------------------------------

    def endpoint(self):
        return f"http://localhost:{self.args.port}/mcp"

    def meta(self):
        return {
            "display_name": self.args.name,
            "version": "1.0.0",
            "game_types": ["even_odd", "even_odd_10"],
            "contact_endpoint": self.endpoint(),
        }

    def register_request(self):
        return {
            "protocol": "league.v2",
            "message_type": "LEAGUE_REGISTER_REQUEST",
            "sender": "player:" + self.args.name,
            "timestamp": now(),
            "conversation_id": "conv_register",
            "player_meta": self.meta(),
        }

    def registered(self, result):
        """Takes the box's LEAGUE_REGISTER_RESPONSE, or gives up: a player that cannot register is a failed test."""
        self.log("registered", message=result)
        if result.get("status") != "ACCEPTED":
            print("not registered:", result, file=sys.stderr)
            os._exit(3)
        self.id, self.token, self.league = result["player_id"], result["auth_token"], result["league_id"]
        self.known.set()

    def patiently(self, post):
        """Students start their agents before the box as often as after it."""
        for attempt in range(40):
            try:
                return post()
            except OSError as error:  # requests' errors are OSErrors
                self.log("retry", attempt=attempt, error=str(error))
                time.sleep(0.25)
        os._exit(4)

    # Play --------------------------------------------------------------------------------------------------------

    def received(self, raw, message):
        self.log("received", method=raw.get("method"), message=message)

    def reply(self, message):
        """The answer to a message, as the specification prints it."""
        head = {
            "protocol": "league.v2",
            "sender": f"player:{self.id}",
            "timestamp": now(),
            "conversation_id": message.get("conversation_id"),
            "auth_token": self.token,
            "match_id": message.get("match_id"),
            "player_id": self.id,
        }
        kind = message.get("message_type")
        if kind == "GAME_INVITATION":
            return {**head, "message_type": "GAME_JOIN_ACK", "arrival_timestamp": now(), "accept": True}
        if kind == "CHOOSE_PARITY_CALL":
            return {**head, "message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": self.choose()}
        if kind == "MOVE_REQUEST":
            return {**head, "message_type": "MOVE_RESPONSE", "move": {"action": "choose", "value": self.choose()}}
        return {"status": "ok"}

    def choose(self):
        return self.random.choice(["even", "odd"])

    def refuses(self, message):
        """One family takes no new invitation before it has seen the GAME_OVER of the last one."""
        kind, match = message.get("message_type"), message.get("match_id")
        if kind == "GAME_OVER":
            self.open_match = None
        if kind == "GAME_INVITATION":
            if self.open_match not in (None, match):
                return True
            self.open_match = match
        return False
