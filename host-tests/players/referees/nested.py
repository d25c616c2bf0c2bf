"""handle_message, with the message in params. Takes one match of an announcement, finds the players in it, and shows a null token."""
from base import Referee, Unknown


class Nested(Referee):
    def wrap(self, method, message):
        return super().wrap("handle_message", {"message": message})

    def heard(self, method, message):
        if message["message_type"] != "ROUND_ANNOUNCEMENT":
            raise Unknown
        one = next(one for one in message["matches"] if one["referee_id"] == self.id)
        urls = {one["player_A_id"]: one["player_A_endpoint"], one["player_B_id"]: one["player_B_endpoint"]}
        return self.begin(self.announced(message, one, urls))

    def report(self, match, winner, numbers):
        score = {player: 3 if player == winner else 0 for player in match["players"]}
        return self.wrap("", self.message("MATCH_RESULT_REPORT", match_id=match["id"], auth_token=None,
                                          result={"winner": winner or "DRAW", "score": score}))


Nested().run()
