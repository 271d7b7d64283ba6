# Follows the docs, whose commands are in /packages, on a machine that systemd runs. Prints what it sees, as NAME=VALUE.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
source /talk.sh
ready() { is_ready || { journalctl --no-pager --unit flagmeter >&2; return 1; }; }

mkdir /root/downloads
cp /packages/{SHA256SUMS,flagmeter*.tar.gz,flagmeter*.deb} /root/downloads/
cd /root/downloads
say sums "$(bash -e /packages/sums.sh | tr '\n' ' ')"
say deb-prepared "$(bash -e /packages/deb.sh 2> /dev/null | grep '^The store')"
ready
say deb-ready "$(get /readyz)"
say deb-enabled "$(systemctl is-enabled flagmeter)"
say deb-manual "$(whatis --long flagmeter | tr -s ' ')"
apt-get purge --yes flagmeter > /dev/null 2>&1
userdel flagmeter
say deb-left "$(ls -d /usr/bin/flagmeter /etc/flagmeter /var/lib/flagmeter 2> /dev/null || true)"

mkdir /root/empty
cd /root/empty
tar -xzf /packages/flagmeter-*-linux-x64.tar.gz
cd flagmeter-*
bash -e /packages/try.sh > /dev/null 2>&1 &
ready
say try-ready "$(get /readyz)"
say try-credentials "$(stat -c %a credentials.json)"
kill "$(pgrep -f 'flagmeter serve')"
wait
say tar-prepared "$(bash -e /packages/install.sh 2> /dev/null | grep '^The store')"
ready
say tar-ready "$(get /readyz)"
say tar-user "$(stat -c %U "/proc/$(systemctl show --value --property=MainPID flagmeter)")"
say tar-completes "$(source /etc/bash_completion.d/flagmeter; COMP_WORDS=(flagmeter ap) COMP_CWORD=1; _flagmeter; printf '%s ' "${COMPREPLY[@]}")"
say done yes
