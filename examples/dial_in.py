"""A whole player for LeagueBox that dials in: it needs no server, no port and no way through a firewall.

    pip install websockets
    python3 examples/dial_in.py --box http://localhost:8000 --name "Ada"

It registers on a WebSocket, and the box calls it on the same one. When the connection breaks it comes back with its token.
Change `choose`.
"""
import argparse
import json
import random
import time
from datetime import datetime, timezone

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

me = {}  # player_id and auth_token, once registered


def choose(message):
    """Your strategy goes here."""
    return random.choice(["even", "odd"])


def answer(message):
    kind = message["message_type"]
    if kind == "GAME_INVITATION":
        return envelope("GAME_JOIN_ACK", message, accept=True, arrival_timestamp=now())
    if kind == "CHOOSE_PARITY_CALL":
        return envelope("CHOOSE_PARITY_RESPONSE", message, parity_choice=choose(message))
    if kind == "MOVE_REQUEST":
        return envelope("MOVE_RESPONSE", message, move={"action": "choose", "value": choose(message)})
    if kind == "GAME_OVER":
        print(message["match_id"], message["game_result"].get("reason"), flush=True)
    return {"status": "ok"}


def envelope(message_type, message, **fields):
    return {"protocol": "league.v2", "message_type": message_type, "sender": f"player:{me.get('player_id')}",
            "timestamp": now(), "conversation_id": message["conversation_id"], "match_id": message["match_id"],
            **me, **fields}


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def request(method, **params):
    return json.dumps({"jsonrpc": "2.0", "method": method, "id": 1, "params": params})


def hello(name):
    """Says who this is: by its token, or for the first time."""
    if me:
        return request("ping", auth_token=me["auth_token"])
    return request("register_player", protocol="league.v2", message_type="LEAGUE_REGISTER_REQUEST", sender="player:new",
                   timestamp=now(), conversation_id="register", player_meta={
                       "display_name": name, "version": "1.0.0", "game_types": ["even_odd", "even_odd_10"]})


def address(box):
    """Host and port of the box, whatever stands before them (http://, ws://) or behind them (/mcp, /ws)."""
    return box.split("//")[-1].split("/")[0]


def play(box, name):
    with connect(f"ws://{address(box)}/ws") as link:
        link.send(hello(name))
        for text in link:
            message = json.loads(text)
            if "method" in message:  # a call of the box; anything else answers what we said
                link.send(json.dumps({"jsonrpc": "2.0", "result": answer(message["params"]), "id": message["id"]}))
            elif message["result"].get("status") == "REJECTED":
                raise SystemExit(f"The box says no: {message['result']['reason']}")
            elif "auth_token" in message["result"]:
                me.update({field: message["result"][field] for field in ("player_id", "auth_token")})


parser = argparse.ArgumentParser()
for flag, default in ("--box", "http://localhost:8000"), ("--name", "Ada"):
    parser.add_argument(flag, default=default)
options = parser.parse_args()
while True:
    try:
        play(**vars(options))
    except (OSError, ConnectionClosed) as error:
        print(error, "- trying again", flush=True)
    time.sleep(1)
