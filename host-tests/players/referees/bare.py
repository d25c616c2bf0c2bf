"""Messages without an envelope. Hears ROUND_ANNOUNCEMENT, asks for the directory of players, and says "" for nobody."""
from base import Referee, post


class Bare(Referee):
    def wrap(self, method, message):
        return message

    def take(self, body):
        self.log("received", method="", message=body)
        if body.get("message_type") == "ROUND_ANNOUNCEMENT":
            query = self.message("LEAGUE_QUERY", query_type="GET_PLAYER_DIRECTORY", auth_token=self.token)
            urls = {one["player_id"]: one["endpoint"] for one in post(self.box, query)["data"]["players"]}
            for one in body["matches"]:
                if one["referee_id"] == self.id:
                    self.begin(self.announced(body, one, urls))
        return 200, {"status": "ok"}

    def report(self, match, winner, numbers):
        return self.message("MATCH_RESULT_REPORT", match_id=match["id"], auth_token=self.token, result={"winner": winner or ""})


Bare().run()
