"""A whole player for LeagueBox, on the standard library alone.

    python3 examples/player.py --box http://localhost:8000 --port 8101 --name "Ada"

It registers, and from then on the box calls it: an invitation, a request for a choice, a result. Change `choose`.
"""
import argparse
import json
import random
import threading
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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


def register(box, name, port):
    call = {"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:new", "timestamp": now(),
        "conversation_id": f"register-{port}", "player_meta": {
            "display_name": name, "contact_endpoint": f"http://localhost:{port}/mcp",
            "version": "1.0.0", "game_types": ["even_odd", "even_odd_10"]}}}
    json_type = {"Content-Type": "application/json"}
    post = urllib.request.Request(f"http://{address(box)}/mcp", json.dumps(call).encode(), json_type)
    try:
        result = json.load(urllib.request.urlopen(post))["result"]
    except OSError as error:
        raise SystemExit(f"There is no box at {post.full_url}: {error}")
    if result["status"] != "ACCEPTED":
        raise SystemExit(f"The box says no: {result['reason']}")
    me.update(player_id=result["player_id"], auth_token=result["auth_token"])


parser = argparse.ArgumentParser()
for flag, default in ("--box", "http://localhost:8000"), ("--port", 8101), ("--name", "Ada"):
    parser.add_argument(flag, type=type(default), default=default)
options = parser.parse_args()
threading.Thread(target=ThreadingHTTPServer(("", options.port), Server).serve_forever, daemon=True).start()
register(**vars(options))
threading.Event().wait()
