#!/bin/bash
# The first process of an ARM machine: runs the life cycle of a server. Prints what it sees, as NAME=VALUE.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o mode=1777 tmpfs /tmp
trap 'echo o > /proc/sysrq-trigger; sleep 60' EXIT
set -euo pipefail
source /talk.sh
modprobe --all virtio_pci virtio_blk
ip link set lo up
mkdir -p /data
for _ in $(seq 100); do
  [ -b /dev/vda ] && break
  sleep 0.1
done
mount /dev/vda /data
install -d -o 65532 -g 65532 -m 0700 /data/flagmeter /tmp/home
export HOME=/tmp/home
as_user=(setpriv --reuid=65532 --regid=65532 --clear-groups --no-new-privs)
serve() {
  "${as_user[@]}" flagmeter serve --existing --data /data/flagmeter --listen 127.0.0.1:8080 --grpc-listen 127.0.0.1:8081 2>> /tmp/log &
  server=$!
  is_ready 3000 || { cat /tmp/log; exit 1; }
}

say machine "$(uname -m)"
say version "$(flagmeter version)"
"${as_user[@]}" flagmeter init --data /data/flagmeter --admin-email you@example.com --json > /tmp/credentials
serve
say ready "$(get /readyz)"
export FLAGMETER_CLIENT_ID=$(field clientId < /tmp/credentials) FLAGMETER_CLIENT_SECRET=$(field clientSecret < /tmp/credentials)
flagmeter apps create Shop > /dev/null
key=$(flagmeter keys create Frontend --app Shop --json | field key)
say packet "$(send_packet '{"k":"'"$key"'","e":"Production","f":{"checkout":{"on":[3,2,1]}}}')"
kill -KILL $server
wait $server || say killed $?
serve
say counted-after-kill "$(counted)"
kill -TERM $server
wait $server && say ended $?
say verified "$("${as_user[@]}" flagmeter verify --data /data/flagmeter 2> /dev/null | grep -c 'every record is in order')"
"${as_user[@]}" flagmeter backup --data /data/flagmeter --to /data/flagmeter/backup > /dev/null 2>&1
umount /data
say done yes
