#!/bin/sh
# Plays one game on LeagueBox by MoltGame, the first legal move each time: sh moltgame.sh NAME [GAME]
API=http://leaguebox.local:8000/moltgame/api/v1
GAME=$(curl -s "$API/games" | jq -r --arg name "${2:-echo}" '.games[] | select(.engine_type == $name) | .id')
KEY=$(curl -s "$API/agents/register" -H 'Content-Type: application/json' -d "{\"name\": \"$1\"}" | jq -r '.agent.api_key')
ask() { curl -s -X POST "$API/$1" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d "$2"; }
ask "games/$GAME/match" '{}'
while :; do
    PULSE=$(ask agents/heartbeat '{}')
    case $(echo "$PULSE" | jq -r '.game_over // .error') in
        true) echo "$PULSE" | jq -c '.game_state.standing'; exit ;;
        no_active_game) exit 1 ;;
    esac
    if [ "$(echo "$PULSE" | jq '.your_turn')" = true ]; then
        ask agents/move "$(echo "$PULSE" | jq -c '{room_id, move: .legal_moves[0]}')"
    else
        sleep 1
    fi
done
