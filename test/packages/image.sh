# Builds the image on a Debian made from its packages, without a registry, and runs it with as few rights as possible: as a user
# other than root, without capabilities, on a root that is read-only. Prints what it sees, as NAME=VALUE. Below `unshare --mount`.
# $1: the folder of this file. $2: a folder with the packages. $3: a scratch folder.
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
  podman run --network=none --ulimit=nofile=4096:4096 --ulimit=nproc=4096:4096 --no-healthcheck \
    --read-only --cap-drop=all --security-opt=no-new-privileges --volume=flagmeter:/var/lib/flagmeter \
    --env=FLAGMETER_AUTH_URL="${url-http://127.0.0.1:8080}" "$@"
}
inside() { podman exec --env=FLAGMETER_CLIENT_ID="${id-}" --env=FLAGMETER_CLIENT_SECRET="${secret-}" flagmeter bash -c "$(cat "$here/talk.sh"); $1"; }
health() { podman exec flagmeter "${check[@]}" && echo healthy; }

mmdebstrap --quiet --mode=root --variant=minbase bookworm "$scratch/base.tar" > "$scratch/base" 2>&1 || { cat "$scratch/base" >&2; exit 1; }
podman import --quiet "$scratch/base.tar" docker.io/library/debian:12-slim > /dev/null
tar -xzf "$packages"/flagmeter-*-linux-x64.tar.gz -C "$scratch"
podman build --isolation=chroot --pull=never --format=docker --tag=flagmeter --file="$packages/Containerfile" "$scratch"/flagmeter-*-linux-x64 \
  > "$scratch/build" 2>&1 || { cat "$scratch/build" >&2; exit 1; }
say said-by-useradd "$(grep -E '^(user|group)add' "$scratch/build" || true)"
readarray -t check < <(podman image inspect --format '{{range .HealthCheck.Test}}{{println .}}{{end}}' flagmeter | sed '1d;$d')

say without-a-url "$(url='' run --rm flagmeter 2>&1 | grep -m 1 '^Cannot')"
say without-a-store "$(run --rm flagmeter 2>&1 | grep -m 1 '^Cannot')"
run --rm flagmeter init --admin-email you@example.com --json > "$scratch/credentials" 2> "$scratch/init"
id=$(field clientId < "$scratch/credentials") secret=$(field clientSecret < "$scratch/credentials")
run --detach --name=flagmeter flagmeter > /dev/null
say ready "$(inside 'is_ready && get /readyz')"
say health "$(health)"
say user "$(inside 'id')"
say root "$(inside 'touch /usr/written 2> /dev/null || echo read-only')"
say store "$(inside 'stat -c "%U:%G %a" /var/lib/flagmeter/usage/data.mdb')"
key=$(inside 'flagmeter apps create Shop > /dev/null && flagmeter keys create Frontend --app Shop --json' | field key)
say packet "$(inside "send_packet '{\"k\":\"$key\",\"e\":\"Production\",\"f\":{\"checkout\":{\"on\":[3,2,1]}}}'")"
say counted "$(inside counted)"
podman stop --time=30 flagmeter > /dev/null
say stopped-with "$(podman inspect --format '{{.State.ExitCode}}' flagmeter)"
podman rm flagmeter > /dev/null
run --detach --name=flagmeter flagmeter > /dev/null
say counted-by-the-next "$(inside 'is_ready && counted')"
say done yes
