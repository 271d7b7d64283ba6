# Boots a copy of this machine's Debian with systemd as its first process, in which a script runs, and prints what that says.
# Nothing of this machine is changed: what is written there is in memory, and gone afterwards. Called below `unshare --mount`.
# $1: the folder of this file. $2: a folder with the packages. $3: the script's name.
set -euo pipefail
place=$(mktemp -d)
trap 'umount --lazy "$place"; rmdir "$place"' EXIT
mount -t tmpfs -o size=2g tmpfs "$place"
mkdir "$place"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/root"
cp "$1/$3" "$place/root/life.sh"
cp "$1/talk.sh" "$place/root/"
# The images of containers forbid packages to start services, and this one is to.
rm -f "$place"/root/etc/machine-id "$place"/root/usr/sbin/policy-rc.d
# The commands of the copy must not use a login of this machine.
rm -rf "$place/root/root/.config/flagmeter"
# There is no network to wait for.
rm -rf "$place"/root/etc/systemd/system/{network-online,multi-user,sysinit}.target.wants
mkdir -p "$place/root/etc/systemd/system/multi-user.target.wants"
for unit in networking systemd-networkd-wait-online systemd-time-wait-sync systemd-timesyncd systemd-udevd systemd-udev-trigger; do
  ln -sf /dev/null "$place/root/etc/systemd/system/$unit.service"
done
cat > "$place/root/etc/systemd/system/life.service" << 'UNIT'
[Unit]
Description=The life of a package
After=basic.target
Requires=basic.target
[Service]
Type=oneshot
ExecStart=/bin/bash /life.sh
StandardOutput=file:/said
StandardError=file:/errors
ExecStopPost=/bin/systemctl --force --no-block poweroff
UNIT
timeout 240 systemd-nspawn --quiet --register=no --keep-unit --private-network --boot --directory="$place/root" \
  --bind-ro="$2:/packages" --console=pipe systemd.unit=life.service systemd.show_status=no < /dev/null > "$place/console" 2>&1 || true
cat "$place/root/said" 2> /dev/null || cat "$place/console"
echo "--- errors"
cat "$place/root/errors" 2> /dev/null || true
