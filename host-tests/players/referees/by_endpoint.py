"""Canonical. Takes matches whose referee_endpoint is, to the byte, its own. Reports match_result_report, 1 to 0, without details, and
nothing at all when players do not join."""
from base import Referee, Unknown


class ByEndpoint(Referee):
    def heard(self, method, message):
        if method != "notify_round":
            raise Unknown
        for one in message["matches"]:
            if one["referee_endpoint"] == self.endpoint:
                self.begin(self.announced(message, one, self.table()))
        return {"acknowledged": True}

    def report(self, match, winner, numbers):
        score = {player: 1 if player == winner else 0 for player in match["players"]}
        message = self.message("MATCH_RESULT_REPORT", match_id=match["id"], auth_token=self.token,
                               result={"winner": winner, "score": score, "details": {}})
        return self.wrap("match_result_report", message)

    def not_joined(self, match, joined):
        self.log("silent", match_id=match["id"])


ByEndpoint().run()
