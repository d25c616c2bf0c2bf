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
    kind, match = message["message_type"], message.get("match_id")
    if kind == "GAME_INVITATION":
        say(f"{match}: invited to play against {message['opponent_id']}")
        return envelope("GAME_JOIN_ACK", message, accept=True, arrival_timestamp=now())
    if kind in ("CHOOSE_PARITY_CALL", "MOVE_REQUEST"):
        choice = choose(message)
        say(f"{match}: I choose {choice}")
        if kind == "CHOOSE_PARITY_CALL":
            return envelope("CHOOSE_PARITY_RESPONSE", message, parity_choice=choice)
        return envelope("MOVE_RESPONSE", message, move={"action": "choose", "value": choice})
    if kind == "ROUND_ANNOUNCEMENT":
        say(f"Round {message['round_id']} of {message['total_rounds']} begins")
    elif kind == "GAME_ERROR":
        say(f"{match}: {message['error_code']}, {message['detail']}")
    elif kind == "GAME_OVER":
        result = message["game_result"]
        won = {me["player_id"]: "I won", None: "nobody won"}.get(result["winner_player_id"], "I lost")
        say(f"{match}: {won}. {result['reason']}")
    elif kind == "LEAGUE_COMPLETED":
        say(f"The league is over. The champion is {message['champion']['display_name']}. "
            "I stay for the next one; Ctrl-C ends me")
    return {"status": "ok"}


def envelope(message_type, message, **fields):
    return {"protocol": "league.v2", "message_type": message_type, "sender": f"player:{me['player_id']}",
            "timestamp": now(), "conversation_id": message["conversation_id"], "match_id": message["match_id"],
            **me, **fields}


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def say(words):
    print(words, flush=True)


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
                continue
            result = message.get("result", message)
            if "error" in result or "error_code" in result or result.get("status") == "REJECTED":
                raise SystemExit(f"The box says no: {result.get('reason') or result.get('detail') or result}")
            if "auth_token" in result:
                me.update(player_id=result["player_id"], auth_token=result["auth_token"])
                say(f"Registered as {me['player_id']}, {name}. Waiting for the league to start; Ctrl-C ends me")


parser = argparse.ArgumentParser()
for flag, default in ("--box", "http://localhost:8000"), ("--name", "Ada"):
    parser.add_argument(flag, default=default)
options = parser.parse_args()
try:
    while True:
        try:
            play(**vars(options))
        except (OSError, ConnectionClosed) as error:
            say(f"{error}: trying again")
        time.sleep(1)
except KeyboardInterrupt:
    say("Ended. A league that runs goes on without me")
