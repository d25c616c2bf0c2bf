"""A whole player for LeagueBox, on the standard library alone.

    python3 examples/player.py --box http://localhost:8000 --port 8101 --name "Ada"

It registers, and from then on the box calls it: an invitation, a request for a choice, a result. Change `choose`.
"""
import argparse
import json
import random
import socket
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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
    if kind == "PING":
        say("The box asks whether I am there")
    elif kind == "ROUND_ANNOUNCEMENT":
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


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps({"jsonrpc": "2.0", "result": answer(call["params"]), "id": call["id"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        """No line for every request."""


def address(box):
    """Host and port of the box, whatever stands before them (http://, ws://) or behind them (/mcp, /ws)."""
    return box.split("//")[-1].split("/")[0]


def own_address(box):
    """The address the box sees us under: `localhost` would mean the box itself to it."""
    host, _, port = address(box).partition(":")
    with socket.create_connection((host, int(port or 80)), timeout=10) as towards_the_box:
        return towards_the_box.getsockname()[0]


def register(box, name, port):
    url = f"http://{address(box)}/mcp"
    try:
        call = {"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:new",
            "timestamp": now(), "conversation_id": f"register-{port}", "player_meta": {
                "display_name": name, "contact_endpoint": f"http://{own_address(box)}:{port}/mcp",
                "version": "1.0.0", "game_types": ["even_odd", "even_odd_10"]}}}
        post = urllib.request.Request(url, json.dumps(call).encode(), {"Content-Type": "application/json"})
        result = json.load(urllib.request.urlopen(post, timeout=10))["result"]
    except OSError as error:
        raise SystemExit(f"There is no box at {url}: {error}")
    if result.get("status") != "ACCEPTED":
        raise SystemExit(f"The box says no: {result.get('reason')}. {result.get('detail') or ''}")
    me.update(player_id=result["player_id"], auth_token=result["auth_token"])
    say(f"Registered as {me['player_id']}, {name}. Waiting for the league to start; Ctrl-C ends me")


def main():
    parser = argparse.ArgumentParser()
    for flag, default in ("--box", "http://localhost:8000"), ("--port", 8101), ("--name", "Ada"):
        parser.add_argument(flag, type=type(default), default=default)
    options = parser.parse_args()
    try:
        server = ThreadingHTTPServer(("", options.port), Server)
    except OSError as error:
        raise SystemExit(f"Port {options.port} cannot be used ({error.strerror}). "
                         f"Does another player run there? Choose another: --port {options.port + 1}")
    # It listens from here on, so the first call waits until we know who we are.
    register(**vars(options))
    server.serve_forever()


try:
    main()
except KeyboardInterrupt:
    say("Ended. A league that runs goes on without me")
