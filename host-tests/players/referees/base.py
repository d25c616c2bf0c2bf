"""What all test referees share: a server, a match of even/odd, a log and a way to die. Python's standard library only.

How a referee registers, learns of a match, finds the players and reports lives in its own file, one for each kind seen in the wild.
"""
import argparse
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The moments of a match at which a referee can be told to die.
MOMENTS = ["told", "invited", "asked", "judged", "announced", "reported"]


def now():
    return datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")


def post(url, body, timeout=10):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return {"error": {"code": error.code}}
    except http.client.HTTPException as error:
        # Half an answer is none.
        raise OSError(error) from error


def unwrap(answer):
    """The message in an answer, whatever it came in."""
    result = answer.get("result", answer) if isinstance(answer, dict) else {}
    if isinstance(result, dict) and "content" in result:
        result = json.loads(result["content"][0]["text"])
    return result if isinstance(result, dict) else {}


class Unknown(Exception):
    """A method this referee does not have."""


class Referee:
    dialect = "canonical"
    at_once = 2
    highest = 10

    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--box", required=True)
        parser.add_argument("--host", default="127.0.0.1", help="where to listen")
        parser.add_argument("--home", default="127.0.0.1", help="where the box finds it")
        parser.add_argument("--port", type=int, required=True)
        parser.add_argument("--name", required=True)
        parser.add_argument("--log", default=os.devnull)
        parser.add_argument("--die", choices=MOMENTS)
        self.args = parser.parse_args()
        self.box = self.args.box.rstrip("/") + "/mcp"
        self.endpoint = f"http://{self.args.home}:{self.args.port}/mcp"
        self.id = self.token = None
        self.calls = 0
        self.playing = set()
        self.random = random.Random(self.args.name)
        self.file = open(self.args.log, "a", encoding="utf-8")
        self.lock = threading.Lock()
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        threading.Thread(target=self.end_with_parent, daemon=True).start()

    def end_with_parent(self):
        while os.read(0, 4096):
            pass
        os._exit(0)

    def log(self, kind, **fields):
        with self.lock:
            self.file.write(json.dumps({"kind": kind, **fields}) + "\n")
            self.file.flush()

    def moment(self, name):
        if self.args.die == name:
            self.log("dies", at=name)
            os._exit(9)

    # -- what differs -------------------------------------------------------------------------------------------------

    def wrap(self, method, message):
        """A message to the box or to a player, in this referee's dialect."""
        self.calls += 1
        return {"jsonrpc": "2.0", "method": method, "params": message, "id": self.calls}

    def heard(self, method, message):
        """What the box says; the result to answer with."""
        raise Unknown(method)

    def report(self, match, winner, numbers):
        details = {"drawn_number": numbers["number"], "choices": numbers["choices"]}
        score = {player: 3 if player == winner else 0 if winner else 1 for player in match["players"]}
        message = self.message("MATCH_RESULT_REPORT", match_id=match["id"], round_id=match["round"], auth_token=self.token,
                               league_id=match["league"], game_type="even_odd",
                               result={"winner": winner, "score": score, "details": details})
        return self.wrap("report_match_result", message)

    # -- what is the same ---------------------------------------------------------------------------------------------

    def message(self, message_type, **fields):
        sender = f"referee:{self.id or 'alpha'}"
        return {"protocol": "league.v2", "message_type": message_type, "sender": sender, "timestamp": now(),
                "conversation_id": f"conv_{self.args.name}", **fields}

    def registration(self):
        return self.message("REFEREE_REGISTER_REQUEST", referee_meta={
            "display_name": self.args.name, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": self.endpoint, "max_concurrent_matches": self.at_once})

    def register(self):
        while True:
            try:
                answer = unwrap(post(self.box, self.wrap("register_referee", self.registration())))
                if answer.get("status") == "ACCEPTED":
                    self.id, self.token = answer["referee_id"], answer["auth_token"]
                    return self.log("registered", message=answer)
                self.log("rejected", message=answer)
            except OSError:
                pass
            time.sleep(0.2)

    def ask_player(self, url, method, message):
        """Asks a player: in the dialect of this referee, and where that is not understood as the specification has it."""
        for body in (self.wrap(method, message), Referee.wrap(self, method, message)):
            try:
                answer = unwrap(post(url, body, timeout=2))
            except (OSError, ValueError):
                answer = {}
            if any(name in answer for name in ("accept", "accepted", "parity_choice", "choice")):
                return answer
        return {}

    def table(self):
        """A table of players that it has from somewhere else. A board that is busy may ask to come again."""
        while True:
            try:
                return self.read_table()
            except (OSError, ValueError, http.client.HTTPException) as error:
                self.log("no_table", error=str(error))
                time.sleep(0.2)

    def read_table(self):
        with urllib.request.urlopen(self.args.box.rstrip("/") + "/api/players.json", timeout=5) as answer:
            return {one["player_id"]: "http://" + one["address"] + "/" + one["contact_endpoint"].split("/", 3)[3]
                    for one in json.load(answer)["players"] if one["connects"] == "http"}

    def play(self, match):
        """Plays a match to its end and reports it, unless it does so already."""
        with self.lock:
            if match["id"] in self.playing:
                return
            self.playing.add(match["id"])
        try:
            self.referee(match)
        finally:
            with self.lock:
                self.playing.discard(match["id"])

    def referee(self, match):
        self.log("told", match_id=match["id"])
        self.moment("told")
        players, urls = match["players"], match["urls"]
        joined = {}
        for player, opponent, role in zip(players, reversed(players), ("PLAYER_A", "PLAYER_B")):
            joined[player] = self.ask_player(urls[player], "handle_game_invitation", self.message(
                "GAME_INVITATION", league_id=match["league"], round_id=match["round"], match_id=match["id"],
                game_type="even_odd", role_in_match=role, player_id=player, opponent_id=opponent, auth_token=self.token))
            self.moment("invited")
        if not all(answer.get("accept", answer.get("accepted")) for answer in joined.values()):
            return self.not_joined(match, joined)
        choices = {}
        for player, opponent in zip(players, reversed(players)):
            standings = {"wins": 0, "losses": 0, "draws": 0, "points": 0}
            answer = self.ask_player(urls[player], "choose_parity", self.message(
                "CHOOSE_PARITY_CALL", round_id=match["round"], match_id=match["id"], player_id=player, game_type="even_odd",
                context={"opponent_id": opponent, "round_id": match["round"], "your_standings": standings}, deadline=now(),
                auth_token=self.token))
            choices[player] = answer.get("parity_choice", answer.get("choice"))
            self.moment("asked")
        number = self.random.randint(1, self.highest)
        parity = "odd" if number % 2 else "even"
        right = [player for player in players if choices[player] == parity]
        winner = right[0] if len(right) == 1 else None
        self.moment("judged")
        for player in players:
            result = {"status": "WIN" if winner else "DRAW", "winner_player_id": winner, "drawn_number": number,
                      "number_parity": parity, "choices": choices}
            self.ask_player(urls[player], "notify_match_result", self.message(
                "GAME_OVER", round_id=match["round"], match_id=match["id"], game_type="even_odd", game_result=result,
                auth_token=self.token))
        self.moment("announced")
        self.send_report(match, winner, {"number": number, "choices": choices})

    def not_joined(self, match, joined):
        winner = next((player for player, answer in joined.items() if answer), None)
        self.send_report(match, winner, {"number": 1, "choices": {}})

    def send_report(self, match, winner, numbers):
        body = self.report(match, winner, numbers)
        for _ in range(50):
            try:
                answer = unwrap(post(self.box, body))
                self.log("reported", match_id=match["id"], winner=winner, answer=answer)
                break
            except OSError:
                time.sleep(0.2)
        self.moment("reported")

    def begin(self, match):
        threading.Thread(target=self.play, args=(match,), daemon=True).start()
        return {"status": "ok"}

    def announced(self, message, one, urls):
        """A match of a ROUND_ANNOUNCEMENT."""
        players = [one["player_A_id"], one["player_B_id"]]
        return {"id": one["match_id"], "round": message["round_id"], "players": players, "urls": urls,
                "league": message.get("league_id")}

    def take(self, body):
        """One call of the box; what is answered, a status and JSON."""
        method, message = body.get("method", ""), body.get("params", body)
        if method == "tools/call":
            method, message = message["name"], message["arguments"]
        elif isinstance(message.get("message"), dict):
            message = message["message"]
        self.log("received", method=method, message=message)
        try:
            if message.get("message_type") == "LEAGUE_COMPLETED":
                result = {"status": "ok"}
            else:
                result = self.heard(method, message)
        except Unknown:
            return 200, {"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": body.get("id")}
        return 200, {"jsonrpc": "2.0", "result": result, "id": body.get("id")}

    def run(self):
        referee = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = referee.take(body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_):
                """The box may be gone, or have hung up."""

        server = Server((self.args.host, self.args.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.register()
        self.stay()

    def stay(self):
        threading.Event().wait()
