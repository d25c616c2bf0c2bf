import json, random, socket, sys, urllib.parse, urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BOX, PORT, NAME = sys.argv[1], int(sys.argv[2]), sys.argv[3]
me = {}  # player_id and auth_token, once registered

# choose

def answer(message):
    kind = message["message_type"]
    if kind == "GAME_INVITATION":
        return reply(message, "GAME_JOIN_ACK", accept=True, arrival_timestamp=now())
    if kind == "THE_QUESTION":
        return reply(message, "THE_ANSWER", the_move=choose(the_view))
    if kind == "GAME_OVER":
        print(message["match_id"], message["game_result"]["reason"], flush=True)
    return {"status": "ok"}

def reply(message, message_type, **fields):
    return {"protocol": "league.v2", "message_type": message_type, "sender": "player:" + me["player_id"],
            "timestamp": now(), "conversation_id": message["conversation_id"], "match_id": message["match_id"],
            **me, **fields}

def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

class Player(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"jsonrpc": "2.0", "result": answer(call["params"]), "id": call["id"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("", PORT), Player)  # listen before anybody can call
box = urllib.parse.urlsplit(BOX)
with socket.create_connection((box.hostname, box.port or 80)) as probe:
    my_ip = probe.getsockname()[0]  # the address the box can reach
call = {"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
    "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:new", "timestamp": now(),
    "conversation_id": "conv_register", "player_meta": {
        "display_name": NAME, "version": "1.0.0", "game_types": ["THE_GAME"],
        "contact_endpoint": f"http://{my_ip}:{PORT}/mcp"}}}
request = urllib.request.Request(BOX + "/mcp", json.dumps(call).encode(), {"Content-Type": "application/json"})
result = json.load(urllib.request.urlopen(request))["result"]
if result.get("status") != "ACCEPTED":
    sys.exit("The box says no: " + str(result.get("reason") or result.get("detail")))
me.update(player_id=result["player_id"], auth_token=result["auth_token"])
print("I am", me["player_id"], flush=True)
server.serve_forever()
