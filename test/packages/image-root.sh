# Runs the server in the file system of the image, as its user, in namespaces of its own: they end with this script. Prints what it sees, as
# NAME=VALUE. Below `unshare --mount --net --pid --fork`. $1: the file system. $2: the command of the image. $3: its health check.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
say() { echo "$1=$2"; }
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
ip link set lo up
inside() { chroot --userspec=65532:65532 "$1" "${@:2}"; }
health() { inside "$1" /bin/bash -c "$2" 2> /dev/null && echo healthy || echo unhealthy; }
inside "$1" /usr/bin/flagmeter init --admin-email you@example.com > /dev/null
FLAGMETER_AUTH_URL=http://127.0.0.1:8080 chroot --userspec=65532:65532 "$1" $2 > "$1/tmp/ready" &
until grep -q '^flagmeter ready' "$1/tmp/ready"; do kill -0 $!; sleep 0.1; done
say health "$(health "$1" "$3")"
kill $!
wait $!
say health-after-stop "$(health "$1" "$3")"
say store "$(stat -c '%u:%g %a' "$1/var/lib/flagmeter/usage/data.mdb")"
say done yes
