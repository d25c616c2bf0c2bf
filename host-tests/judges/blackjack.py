"""Plays matches of blackjack again, by the rules as the manual tells them and without a look at the box's code.

In: a line a match, {"seed": hex, "seats": n, "moves": [[seat, move], ...]}. Out: a line a match,
{"asked": [[move, ...], ...] for every move what was allowed, "chips": [[...], ...] after every hand}.
"""

import json
import sys

from seed import draws

RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]


def value(cards):
    total = sum(11 if card == "A" else 10 if card in "10JQK" else int(card) for card in cards)
    aces = cards.count("A")
    while total > 21 and aces:
        total, aces = total - 10, aces - 1
    return total


class Hand:
    def __init__(self, cards, bet, is_split=False):
        self.cards, self.bet, self.is_split = cards, bet, is_split

    def is_blackjack(self):
        return len(self.cards) == 2 and value(self.cards) == 21 and not self.is_split


class Match:
    def __init__(self, told):
        self.below, self.seats, self.moves = draws(bytes.fromhex(told["seed"])), told["seats"], list(told["moves"])
        self.chips, self.asked, self.after = [100] * self.seats, [], []

    def take(self):
        return self.shoe.pop(self.below(len(self.shoe)))

    def ask(self, seats, allowed):
        seat, move = self.moves.pop(0)
        assert seat in seats, f"{seat} is not asked, but {seats}"
        self.asked.append(allowed(seat))
        return seat, move

    def play(self):
        for _ in range(10):
            players = [seat for seat in range(self.seats) if self.chips[seat] >= 5]
            if not players:
                break
            self.hand(players)
            self.after.append(list(self.chips))
        assert not self.moves, f"{len(self.moves)} moves too many"
        return {"asked": self.asked, "chips": self.after}

    def hand(self, players):
        bets, waiting = {}, set(players)
        while waiting:
            allowed = lambda seat: [["bet", str(bet)] for bet in (5, 10, 20, 50) if bet <= self.chips[seat]]
            seat, (word, bet) = self.ask(waiting, allowed)
            assert word == "bet"
            bets[seat] = int(bet)
            waiting.remove(seat)
        self.shoe = [rank for rank in RANKS for _ in range(24)]
        first = [self.take() for _ in players + ["dealer"]]
        second = [self.take() for _ in players + ["dealer"]]
        hands = {}
        for seat, a, b in zip(players, first, second):
            self.chips[seat] -= bets[seat]
            hands[seat] = [Hand([a, b], bets[seat])]
        dealer = Hand([first[-1], second[-1]], 0)
        for seat in players:
            at = 0
            while at < len(hands[seat]):
                self.one(seat, hands[seat], at)
                at += 1
        while value(dealer.cards) < 17:
            dealer.cards.append(self.take())
        for seat in players:
            won = sum(self.payment(hand, dealer) for hand in hands[seat])
            self.chips[seat] = min(self.chips[seat] + won, 1000)

    def one(self, seat, hands, at):
        hand = hands[at]
        if len(hand.cards) == 1:
            hand.cards.append(self.take())
        if hand.is_split and hand.cards[0] == "A":
            return
        while value(hand.cards) < 21:
            bet = hands[0].bet if at else hand.bet
            base = min(other.bet for other in hands)
            allowed = [["stand"], ["hit"]]
            if len(hand.cards) == 2 and self.chips[seat] >= base:
                allowed.append(["double"])
                if len(hands) == 1 and hand.cards[0] == hand.cards[1]:
                    allowed.append(["split"])
            _, [word] = self.ask({seat}, lambda _: allowed)
            if word == "stand":
                return
            if word == "hit":
                hand.cards.append(self.take())
            elif word == "double":
                self.chips[seat] -= hand.bet
                hand.bet *= 2
                hand.cards.append(self.take())
                return
            else:
                self.chips[seat] -= bet
                hands.append(Hand([hand.cards.pop()], bet, True))
                hand.is_split = True
                hand.cards.append(self.take())
                if hand.cards[0] == "A":
                    return

    def payment(self, hand, dealer):
        mine, theirs = value(hand.cards), value(dealer.cards)
        if hand.is_blackjack():
            return hand.bet if dealer.is_blackjack() else hand.bet + 3 * hand.bet // 2
        if dealer.is_blackjack() or mine > 21:
            return 0
        if theirs > 21 or mine > theirs:
            return 2 * hand.bet
        return hand.bet if mine == theirs else 0


for line in sys.stdin:
    print(json.dumps(Match(json.loads(line)).play()), flush=True)
