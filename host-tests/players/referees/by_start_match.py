"""Message types for methods. Told by START_MATCH, has a table of the players, reports without details."""
from base import Referee, Unknown


class ByStartMatch(Referee):
    def wrap(self, method, message):
        return super().wrap(message["message_type"], message)

    def heard(self, method, message):
        if method != "START_MATCH" or message["sender"] != "league_manager:LM01" or not message["auth_token"]:
            raise Unknown
        players = [message["player_a_id"], message["player_b_id"]]
        return self.begin({"id": message["match_id"], "round": message["round_id"], "players": players,
                           "urls": self.table(), "league": message.get("league_id")})

    def report(self, match, winner, numbers):
        message = self.message("MATCH_RESULT_REPORT", match_id=match["id"], auth_token=self.token, result={"winner": winner})
        return self.wrap("", message)


ByStartMatch().run()
