"""The moves of Landlord as rlcard has them. Reads a position a line, {"hand": ranks, "lead": ranks or null}, and prints its moves."""

import json
import sys
from types import SimpleNamespace

from rlcard.games.base import Card
from rlcard.games.doudizhu.judger import DoudizhuJudger
from rlcard.games.doudizhu.utils import cards2str, get_gt_cards

SIGNS = {"10": "T", "BJ": "B", "RJ": "R"}
RANKS = {sign: rank for rank, sign in SIGNS.items()}


def card(rank):
    return Card(rank, "") if rank in ("BJ", "RJ") else Card("S", SIGNS.get(rank, rank))


for line in sys.stdin:
    position = json.loads(line)
    hand = [card(rank) for rank in position["hand"]]
    if position["lead"] is None:
        moves = DoudizhuJudger.playable_cards_from_hand(cards2str(hand))
    else:
        lead = cards2str([card(rank) for rank in position["lead"]])
        moves = get_gt_cards(SimpleNamespace(current_hand=hand), SimpleNamespace(played_cards=lead))
    print(json.dumps([[RANKS.get(sign, sign) for sign in move] for move in moves if move != "pass"]))
