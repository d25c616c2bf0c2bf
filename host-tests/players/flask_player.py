"""Players on Flask and requests: canonical, and the families that register or answer in their own way.

canonical    as the specification prints it
flat         registers with a flat POST /register, then plays canonically
request      answers an invitation with a JSON-RPC request
post         acknowledges at once and POSTs the real answer to the box while the box's call is still open
quirks       the wrong player_id, a constant token, an upper-case nested choice, an error that is null
early        registers half a second before its server listens
"""
import logging
import threading
import time

import requests
from flask import Flask, jsonify, request
from werkzeug.serving import make_server

from common import Player, arguments

args = arguments(["canonical", "flat", "request", "post", "quirks", "early"])
player = Player(args)
app = Flask(__name__)
logging.getLogger("werkzeug").setLevel(logging.ERROR)

METHODS = {
    "handle_game_invitation", "choose_parity", "notify_match_result", "notify_round", "update_standings",
    "notify_round_completed", "notify_league_completed", "notify_game_error", "request_move", "notify_move_validation",
}


def post_to_box(message):
    """The specification's AuthenticatedClient: the method says nothing, the message type everything."""
    player.known.wait(5)
    message |= {"sender": f"player:{player.id}", "player_id": player.id, "auth_token": player.token}
    call = {"jsonrpc": "2.0", "method": "mcp_message", "params": {**message, "league_id": player.league}, "id": 1}
    player.log("posted", answer=requests.post(args.box + "/mcp", json=call, timeout=5).text)


@app.post("/mcp")
def mcp():
    call = request.get_json()
    if call.get("method") not in METHODS:
        return jsonify(jsonrpc="2.0", error={"code": -32601, "message": "Method not found"}, id=call.get("id"))
    message = call["params"]
    player.received(call, message)
    reply, kind = player.reply(message), message["message_type"]
    if args.dialect == "request" and kind == "GAME_INVITATION":
        return jsonify(jsonrpc="2.0", method="game_join_ack", params=reply, id=77)
    if args.dialect == "post" and kind in ("GAME_INVITATION", "CHOOSE_PARITY_CALL"):
        post_to_box(reply)
        reply = {"status": "joined" if kind == "GAME_INVITATION" else "received"}
    if args.dialect == "quirks" and "player_id" in reply:
        reply |= {"player_id": args.name, "auth_token": "token"}
        if reply.pop("parity_choice", None):
            reply["choice"] = {"value": "EVEN"}
        return jsonify(jsonrpc="2.0", result=reply, error=None, id=call["id"])
    return jsonify(jsonrpc="2.0", result=reply, id=call["id"])


@app.get("/health")
def health():
    return {"status": "ok"}


def register():
    if args.dialect == "flat":
        flat = {"display_name": args.name, "version": "1.0.0", "endpoint": player.endpoint()}
        reply = requests.post(args.box + "/register", json=flat, timeout=5).json()
        return reply.get("result", reply)
    call = {"jsonrpc": "2.0", "method": "register_player", "params": player.register_request(), "id": 1}
    return requests.post(args.box + "/mcp", json=call, timeout=5).json()["result"]


def serve():
    make_server(args.host, args.port, app, threaded=True).serve_forever()


if args.dialect == "early":
    player.registered(player.patiently(register))
    time.sleep(0.5)
    serve()
else:
    # The socket listens before the registration goes out, so the first call cannot be refused.
    server = make_server(args.host, args.port, app, threaded=True)
    threading.Thread(target=lambda: player.registered(player.patiently(register))).start()
    server.serve_forever()
