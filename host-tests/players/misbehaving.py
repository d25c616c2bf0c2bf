"""Players that break the rules, on the standard library alone.

hung      accepts the connection, reads the call, never answers
dead      registers, but no server listens
maybe     joins, then chooses "maybe"
slow      thinks for --seconds before every answer
decliner  refuses every invitation
garbage   answers something that is not JSON
huge      answers a megabyte
aloof     answers questions; news only after --seconds, or never
"""
import json
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from common import Player, arguments

args = arguments(["hung", "dead", "maybe", "slow", "decliner", "garbage", "huge", "aloof"])
player = Player(args)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = call.get("params", {})
        player.received(call, message)
        reply = player.reply(message)
        if args.dialect == "hung":
            threading.Event().wait()
        if args.dialect == "aloof" and not {"accept", "parity_choice"} & reply.keys():
            threading.Event().wait(args.seconds or None)
        if args.dialect == "slow":
            time.sleep(args.seconds)
        if args.dialect == "maybe" and "parity_choice" in reply:
            reply["parity_choice"] = "maybe"
        if args.dialect == "decliner" and "accept" in reply:
            reply["accept"] = False
        if args.dialect == "huge":
            reply["reasoning"] = "x" * 1_000_000
        body = json.dumps({"jsonrpc": "2.0", "result": reply, "id": call.get("id")}).encode()
        if args.dialect == "garbage":
            body = b"<html>even, I think</html>"
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError as error:
            player.log("unheard", error=str(error))  # The box had already given up on us.

    def log_message(self, *_):
        pass


def register():
    call = {"jsonrpc": "2.0", "method": "register_player", "params": player.register_request(), "id": 1}
    data, head = json.dumps(call).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(args.box + "/mcp", data, head)
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response)["result"]


if args.dialect == "dead":
    player.registered(player.patiently(register))
    threading.Event().wait()
server = ThreadingHTTPServer((args.host, args.port), Handler)
threading.Thread(target=lambda: player.registered(player.patiently(register))).start()
server.serve_forever()
