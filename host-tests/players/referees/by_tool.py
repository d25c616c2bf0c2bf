"""MCP tools. Has a tool start_match with ids and endpoints, plays before it answers, and reports by a tool call."""
import json

from base import Referee, Unknown


class ByTool(Referee):
    def wrap(self, method, message):
        return super().wrap("tools/call", {"name": method, "arguments": message})

    def heard(self, method, message):
        if method != "start_match":
            raise Unknown
        players = [message["player_a_id"], message["player_b_id"]]
        urls = dict(zip(players, [message["player_a_endpoint"], message["player_b_endpoint"]]))
        self.play({"id": message["match_id"], "round": message["round_id"], "players": players, "urls": urls,
                   "league": message.get("league_id")})
        return {"content": [{"type": "text", "text": json.dumps({"status": "completed"})}]}


ByTool().run()
