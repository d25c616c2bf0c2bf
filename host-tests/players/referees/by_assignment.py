"""Canonical. Knows assign_match, with ids and endpoints, and answers when the whole match is over; draws numbers up to 99."""
from base import Referee, Unknown


class ByAssignment(Referee):
    highest = 99

    def heard(self, method, message):
        if method != "assign_match":
            raise Unknown
        players = [message["player1_id"], message["player2_id"]]
        urls = dict(zip(players, [message["player1_endpoint"], message["player2_endpoint"]]))
        self.play({"id": message["match_id"], "round": message["round_id"], "players": players, "urls": urls,
                   "league": message.get("league_id")})
        return {"status": "completed"}


ByAssignment().run()
