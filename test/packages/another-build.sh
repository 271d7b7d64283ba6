# Builds a release from a copy of this tree: in another folder, by another user with another umask, time zone and language.
# $1: the project's folder. $2: a scratch folder. Prints the sums of the files.
set -euo pipefail
there="$2/another folder with a longer name"
mkdir "$there"
cd "$1"
git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from=- | tar --extract --directory="$there"
cp -a node_modules "$there/"
mkdir -p "$there/dist"
cp -a dist/runtimes dist/image-base "$there/dist/"
as_other=()
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$2"
  chown -R nobody "$there"
  as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
cd "$there"
"${as_other[@]}" env HOME="$there" USER=other TZ=Pacific/Kiritimati LC_ALL=tr_TR.UTF-8 PATH="$there/node_modules/.bin:$PATH" \
  bash -c 'umask 077; exec bun scripts/release/main.ts' >&2
cat dist/release/SHA256SUMS
