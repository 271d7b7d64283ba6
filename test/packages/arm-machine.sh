# Starts an ARM machine, emulated as a whole, with Debian's kernel and the files of a .deb, in which `arm-life.sh` runs, and prints what
# that says. The data is on a disk of its own, `disk` in the scratch folder.
# $1: the folder of this file. $2: the .deb. $3: a scratch folder.
set -euo pipefail
root=$3/root
# Unpacked, not set up: that would run programs for ARM here.
mmdebstrap --quiet --mode=root --variant=extract --architectures=arm64 \
  --include=linux-image-cloud-arm64,bash,coreutils,grep,iproute2,kmod,mount,sed,util-linux bookworm "$root" > "$3/unpacking" 2>&1 ||
  { cat "$3/unpacking" >&2; exit 1; }
depmod --basedir "$root" "$(ls "$root/lib/modules")"
mv "$root"/boot/vmlinuz-* "$3/kernel"
rm -rf "$root"/boot/* "$root"/usr/share/{doc,locale,man}
dpkg-deb --extract "$2" "$root"
cp "$1/talk.sh" "$root/talk.sh"
install -m 0755 "$1/arm-life.sh" "$root/init"
(cd "$root" && find . -print0 | sort -z | cpio --null --create --format=newc --quiet) > "$3/initrd"
truncate --size=1G "$3/disk"
mkfs.ext4 -q "$3/disk"
# Cortex-A72 is the oldest that servers have: ARMv8.0, without the atomic instructions of later ones.
timeout 900 qemu-system-aarch64 -machine virt -cpu cortex-a72 -smp 2 -m 3G -display none -monitor none -nic none -no-reboot \
  -kernel "$3/kernel" -initrd "$3/initrd" -append 'console=ttyAMA0 quiet panic=-1' \
  -drive "file=$3/disk,format=raw,if=virtio" -serial "file:$3/console" < /dev/null >&2
tr -d '\r' < "$3/console"
