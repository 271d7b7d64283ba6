# Loads the image of a release, and runs it with as few rights as possible: as a user other than root, without capabilities, on a root
# that is read-only. Prints what it sees, as NAME=VALUE. Below `unshare --mount --net`.
# $1: the folder of this file. $2: a folder with the files of a release. $3: a scratch folder.
set -euo pipefail
here=$1 packages=$2 scratch=$3
source "$here/talk.sh"
# Nothing of this machine's own containers.
podman() {
  command podman --root "$scratch/store" --runroot "$scratch/run" --volumepath "$scratch/volumes" --tmpdir "$scratch/tmp" \
    --storage-driver=overlay --cgroup-manager=cgroupfs --runtime=runc "$@"
}
trap 'podman rm --all --force --time=0 > /dev/null 2>&1 || true' EXIT
# By default podman would raise these limits, which not every root may do.
run() {
  podman run --network=host --ulimit=nofile=4096:4096 --ulimit=nproc=4096:4096 --no-healthcheck \
    --read-only --cap-drop=all --security-opt=no-new-privileges --volume=flagmeter:/var/lib/flagmeter \
    --env=FLAGMETER_AUTH_URL="${url-http://127.0.0.1:8080}" "$@"
}
inside() { podman exec --env=FLAGMETER_CLIENT_ID="${id-}" --env=FLAGMETER_CLIENT_SECRET="${secret-}" flagmeter "$@"; }
flagmeter() { inside flagmeter "$@"; }
PATH=$PATH:/usr/sbin ip link set lo up

podman load --quiet --input "$packages"/flagmeter-*-image.tar > "$scratch/load" 2>&1 || { cat "$scratch/load" >&2; exit 1; }
say loaded "$(sed -n 's/^Loaded image: *//p' "$scratch/load")"
podman tag localhost/flagmeter:1.0.0 flagmeter

say without-a-url "$(url='' run --rm flagmeter 2>&1 | grep -m 1 '^Cannot')"
say without-a-store "$(run --rm flagmeter 2>&1 | grep -m 1 '^Cannot')"
run --rm flagmeter init --admin-email you@example.com --json > "$scratch/credentials" 2> "$scratch/init"
id=$(field clientId < "$scratch/credentials") secret=$(field clientSecret < "$scratch/credentials")
run --detach --name=flagmeter flagmeter > /dev/null
say ready "$(is_ready && get /readyz)"
say user "$(inside bash -c 'echo $UID $EUID')"
say root "$(inside bash -c '{ > /usr/written; } 2> /dev/null || echo read-only')"
flagmeter apps create Shop > /dev/null
key=$(flagmeter keys create Frontend --app Shop --json | field key)
say packet "$(send_packet "{\"k\":\"$key\",\"e\":\"Production\",\"f\":{\"checkout\":{\"on\":[3,2,1]}}}")"
say counted "$(counted)"
podman stop --time=30 flagmeter > /dev/null
say stopped-with "$(podman inspect --format '{{.State.ExitCode}}' flagmeter)"
podman rm flagmeter > /dev/null
run --detach --name=flagmeter flagmeter > /dev/null
say counted-by-the-next "$(is_ready && counted)"
say done yes
