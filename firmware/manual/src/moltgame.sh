#!/bin/sh
# Plays one game on LeagueBox by MoltGame, the first legal move each time: sh moltgame.sh NAME [GAME]
API=http://leaguebox.local:8000/moltgame/api/v1
GAME=$(curl -s "$API/games" | jq -r --arg name "${2:-echo}" '.games[] | select(.engine_type == $name) | .id')
KEY=$(curl -s "$API/agents/register" -H 'Content-Type: application/json' -d "{\"name\": \"$1\"}" | jq -r '.agent.api_key')
ask() { curl -s -X POST "$API/$1" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d "$2"; }
ask "games/$GAME/match" '{}' | jq -c .
while :; do
    PULSE=$(ask agents/heartbeat '{}')
    case $(printf %s "$PULSE" | jq -r 'if .game_over then "over" elif .your_turn then "move" else .error end') in
        over) printf %s "$PULSE" | jq -c '.game_state.standing'; exit ;;
        move) ask agents/move "$(printf %s "$PULSE" | jq -c '{room_id, move: .legal_moves[0]}')" | jq -c . ;;
        no_active_game | unauthorized) exit 1 ;;
        *) sleep 1 ;;
    esac
done
