# The life of a .deb on a machine that systemd runs. Prints what it sees, as NAME=VALUE.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
data=/var/lib/flagmeter
settings=/etc/flagmeter/flagmeter.json

source /talk.sh
pid() { systemctl show --value --property=MainPID flagmeter; }
install() { dpkg --install --force-confold "/packages/$1" > /dev/null; }
ready() {
  is_ready && return
  systemctl status --no-pager flagmeter >&2 || true
  journalctl --no-pager --unit flagmeter >&2 || true
  return 1
}

install old.deb
say started-by-installing "$(systemctl is-active flagmeter || true)"
say user "$(getent passwd flagmeter | cut -d: -f6,7)"
say data "$(stat -c '%U:%G %a' $data)"
systemctl start flagmeter
for _ in $(seq 100); do
  systemctl show --property=NRestarts flagmeter | grep -q '=[1-9]' && break
  sleep 0.1
done
say start-without-a-store "$(journalctl --no-pager --output=cat --unit flagmeter | grep -m 1 '^Cannot')"
systemctl stop flagmeter

runuser -u flagmeter -- flagmeter init --data $data --admin-email you@example.com --json > /root/credentials
systemctl enable --quiet --now flagmeter
ready
say process "$(stat -c %U "/proc/$(pid)")"
say no-new-privileges "$(sed -n 's/NoNewPrivs:\t//p' "/proc/$(pid)/status")"
say seccomp "$(sed -n 's/Seccomp:\t//p' "/proc/$(pid)/status")"
say capabilities "$(sed -n 's/CapBnd:\t//p' "/proc/$(pid)/status")"

export FLAGMETER_CLIENT_ID=$(field clientId < /root/credentials) FLAGMETER_CLIENT_SECRET=$(field clientSecret < /root/credentials)
flagmeter apps create Shop > /dev/null
key=$(flagmeter keys create Frontend --app Shop --json | field key)
body='{"k":"'"$key"'","e":"Production","f":{"checkout":{"on":[3,2,1]}}}'
say packet "$(send_packet "$body")"
say counted "$(counted)"
say secrets-in-the-journal "$(journalctl --no-pager --unit flagmeter | grep -c "$FLAGMETER_CLIENT_SECRET" || true)"
before=$(pid)
systemctl reload flagmeter
say reloaded "$([ "$(pid)" = "$before" ] && echo yes)"

sed -i 's/"data"/"rate": 1234,\n  "data"/' $settings
install new.deb
ready
say version-after-upgrade "$(dpkg-query --show --showformat '${Version}' flagmeter)"
say restarted-by-upgrade "$([ "$(pid)" != "$before" ] && echo yes)"
say settings-after-upgrade "$(grep -c 1234 $settings)"
say counted-after-upgrade "$(counted)"

dpkg --remove flagmeter > /dev/null
say active-after-removal "$(systemctl is-active flagmeter || true)"
say left-after-removal "$(ls -d /usr/bin/flagmeter $settings $data/accounts/data.mdb 2> /dev/null | tr '\n' ' ')"
install new.deb
systemctl start flagmeter
ready
say counted-after-return "$(counted)"

dpkg --listfiles flagmeter | grep flagmeter > /root/files
dpkg --purge flagmeter > /dev/null
say left-after-purge "$(while read -r file; do ls -d "$file" 2> /dev/null || true; done < /root/files | tr '\n' ' ')$(ls -d $data 2> /dev/null || true)"
say user-after-purge "$(getent passwd flagmeter | cut -d: -f1)"
say done yes
