"""Plays matches of Texas Hold'em again with pokerkit: blinds, what may be done, pots and showdowns are pokerkit's; only which
cards lie where, who has the button and how long a match lasts is told here, from the manual.

In: a line a match, {"seed": hex, "seats": n, "moves": [[hand, seat, move], ...]}. Out: a line a match,
{"asked": [{"fold", "call", "least", "most"}, ...] for every move, "stacks": [[...], ...] after every hand}.
"""

import json
import sys
import warnings

from pokerkit import Automation, Mode, NoLimitTexasHoldem

from seed import draws

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]


def deal(below, count):
    deck = list(DECK)
    return [deck.pop(below(len(deck))) for _ in range(count)]


def play(match):
    below, seats, moves = draws(bytes.fromhex(match["seed"])), match["seats"], list(match["moves"])
    stacks, button, asked, after = [1000] * seats, 0, [], []
    for hand in range(1, 31):
        cards = deal(below, 2 * seats + 5)
        board = cards[2 * seats:]
        # From the left of the button: pokerkit gives the first the odd chips, and of two the big blind.
        order = [(button + step) % seats for step in range(1, seats + 1)]
        order = [seat for seat in order if stacks[seat]]
        blind = 10 << (hand - 1) // 10
        state = NoLimitTexasHoldem.create_state(
            AUTOMATIONS, True, 0, (blind, 2 * blind), 2 * blind, [stacks[seat] for seat in order], len(order),
            mode=Mode.TOURNAMENT,
        )
        while state.status:
            if state.hole_dealee_index is not None:
                seat = order[state.hole_dealee_index]
                state.deal_hole(cards[2 * seat] + cards[2 * seat + 1])
            elif state.can_burn_card("??"):
                state.burn_card("??")
            elif state.actor_index is None:
                count = 3 if len(board) == 5 else 1
                state.deal_board("".join(board[:count]))
                board = board[count:]
            elif not moves or moves[0][0] != hand:
                # All others are all in, and pokerkit lets who has already called say so.
                assert state.checking_or_calling_amount == 0, (hand, moves[:1])
                state.check_or_call()
            else:
                _, seat, (word, *number) = moves.pop(0)
                assert order[state.actor_index] == seat, f"pokerkit asks {order[state.actor_index]}, not {seat}"
                asked.append({
                    "fold": state.can_fold(),
                    "call": state.checking_or_calling_amount,
                    "least": state.min_completion_betting_or_raising_to_amount,
                    "most": state.max_completion_betting_or_raising_to_amount,
                })
                if word == "fold":
                    state.fold()
                elif word in ("check", "call"):
                    state.check_or_call()
                elif word == "raise":
                    state.complete_bet_or_raise_to(int(number[0]))
                else:
                    state.complete_bet_or_raise_to(state.max_completion_betting_or_raising_to_amount)
        for seat, stack in zip(order, state.stacks):
            stacks[seat] = stack
        after.append(list(stacks))
        if sum(map(bool, stacks)) < 2:
            break
        button = next(seat for step in range(1, seats + 1) if stacks[seat := (button + step) % seats])
    assert not moves, f"{len(moves)} moves too many"
    return {"asked": asked, "stacks": after}


warnings.simplefilter("ignore")
for line in sys.stdin:
    print(json.dumps(play(json.loads(line))), flush=True)
