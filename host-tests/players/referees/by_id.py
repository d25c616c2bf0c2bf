"""Canonical. Learns of its matches by ROUND_ANNOUNCEMENT, where referee_id is its own; has a table of the players; reports as specified."""
from base import Referee, Unknown


class ById(Referee):
    def heard(self, method, message):
        if method != "notify_round":
            raise Unknown
        for one in message["matches"]:
            if one["referee_id"] == self.id:
                self.begin(self.announced(message, one, self.table()))
        return {"status": "ok"}


ById().run()
