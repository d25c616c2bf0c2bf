export LC_ALL=C # a character is a byte
box=$1 name=$2

# choose

frame() { # a kind and a text; what a client sends is masked, here with zeros
  local n=${#2} length
  if ((n < 126)); then printf -v length '\\x%02x' $((n + 128))
  else printf -v length '\\xfe\\x%02x\\x%02x' $((n >> 8)) $((n & 255)); fi
  printf "\\x8$1$length\\0\\0\\0\\0%s" "$2" >&3
}

byte() { # the next byte, as a number
  local c
  IFS= read -r -d '' -n 1 -u 3 c || exit
  printf -v "$1" %d "'$c"
}

hear() { # the next message
  local head length high low
  byte head; byte length
  if ((length == 126)); then byte high; byte low; length=$(((high & 255) * 256 + (low & 255))); fi
  text=
  ((length == 0)) || IFS= read -r -d '' -n "$length" -u 3 text
  case $((head & 15)) in
    8) exit ;; # closed
    9) frame a "$text" && hear ;; # are you there?
  esac
}

play() { choose; frame 1 "{\"type\": \"submit_move\", \"gameId\": \"$game\", \"move\": $move}"; }

me=$(curl -s "http://$box/api/v1/agents" -H 'Content-Type: application/json' -d "{\"name\": \"$name\"}")
[[ $me == *apiKey* ]] || { echo "The box says no: $me"; exit 1; }
key=${me#*'"apiKey":"'} key=${key%%'"'*}
exec 3<>"/dev/tcp/${box%:*}/${box##*:}" || exit
printf '%s\r\n' 'GET /api/v1/ws?type=agent HTTP/1.1' "Host: $box" 'Upgrade: websocket' 'Connection: Upgrade' \
  'Sec-WebSocket-Version: 13' 'Sec-WebSocket-Key: bGVhZ3VlYm94LXBsYXllcg==' '' >&3
while read -r -u 3 line && [[ $line != $'\r' ]]; do :; done

frame 1 "{\"type\": \"authenticate\", \"token\": \"$key\"}"
while hear; do
  case $text in
    '{"type":"authenticated"'*) # join ;;
    '{"type":"matched"'*) [[ $text == *'"THE_GAME"'* ]] || { echo "a league of another game: $text"; exit 1; } ;;
    '{"type":"your_turn"'*) game=${text#*'"gameId":"'} game=${game%%'"'*}; play ;;
    '{"type":"move_result","success":false,"error":"Invalid move."'*) echo "$text"; play ;; # another one
    '{"type":"turn_update"'* | '{"type":"game_over"'*) echo "$text" ;;
    '{"type":"error"'*) echo "$text"; exit 1 ;;
  esac
done
