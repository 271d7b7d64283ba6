# Functions of the scripts in this folder: output, and requests to a server that listens on 127.0.0.1:8080. It needs nothing but bash, sed and grep.
say() { echo "$1=$2"; }
ask() { timeout 60 bash -c 'exec 3<> /dev/tcp/127.0.0.1/8080; printf "$0" >&3; head -1 <&3' "$@" | tr -d '\r'; }
get() { ask "GET $1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n"; }
# $1: a body of JSON
send_packet() { ask "POST /api/frontend/telemetry HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nOrigin: https://shop.example\r\nContent-Type: application/json\r\nContent-Length: ${#1}\r\nConnection: close\r\n\r\n$1"; }
# Waits for a server, long enough for a slow machine.
is_ready() {
  for _ in $(seq "${1:-300}"); do
    case $(get /readyz 2> /dev/null || true) in *' 200 '*) return ;; esac
    sleep 0.1
  done
  return 1
}
# The field of a JSON that stands on one line.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
counted() { flagmeter usage --app Shop --env Production --json | sed -n 's/.*"checks":\([0-9]*\).*/\1/p' | head -1; }
