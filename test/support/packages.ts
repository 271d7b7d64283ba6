import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { whyNoPostgres } from './postgres-program.ts';

/** Path of Chromium's headless shell, which starts three times as fast. The variable CHROMIUM selects another path. */
export const chromiumPath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

/** Debian packages that some tests need. The value is true if the package is installed. */
const packages = {
  binutils: hasProgram('objdump'),
  caddy: hasProgram('caddy'),
  'chromium-headless-shell': existsSync(chromiumPath),
  cpio: hasProgram('cpio'),
  curl: hasProgram('curl'),
  dpkg: hasProgram('dpkg-deb'),
  fish: hasProgram('fish'),
  e2fsprogs: hasProgram('mkfs.ext4'),
  faketime: hasProgram('faketime'),
  'g++': hasProgram('g++'),
  git: hasProgram('git'),
  'golang-github-masterminds-sprig-dev':
    hasProgram('go') && existsSync('/usr/share/gocode/src/github.com/Masterminds/sprig'),
  'g++-aarch64-linux-gnu': hasProgram('aarch64-linux-gnu-g++'),
  haproxy: hasProgram('haproxy'),
  iproute2: hasProgram('ip'),
  kmod: hasProgram('depmod'),
  lintian: hasProgram('lintian'),
  'man-db': hasProgram('man'),
  mmdebstrap: hasProgram('mmdebstrap'),
  nftables: hasProgram('nft'),
  nginx: hasProgram('nginx'),
  openssl: hasProgram('openssl'),
  patch: hasProgram('patch'),
  podman: hasProgram('podman') && hasProgram('runc'),
  prometheus: hasProgram('prometheus') && hasProgram('promtool'),
  postgresql: whyNoPostgres === undefined,
  'qemu-system-arm': hasProgram('qemu-system-aarch64'),
  spin: hasProgram('spin'),
  systemd: hasProgram('systemd-analyze'),
  'systemd-container': hasProgram('systemd-nspawn'),
  zsh: hasProgram('zsh'),
  zstd: hasProgram('zstd'),
} as const;

export type Package = keyof typeof packages;

/** True if tests that need a package are skipped. In CI, such tests run, and fail if their package is missing. */
const isLeftOut = (name: Package) => process.env['CI'] === undefined && !packages[name];

/** Packages that are not installed. Tests that need such a package are skipped. */
export const skipped: readonly Package[] = (Object.keys(packages) as Package[]).filter(isLeftOut);

export const installCommand = (names: readonly Package[]) => `apt-get install ${names.join(' ')}`;

/** True if a program exists. Servers are in directories that only root's PATH contains. */
function hasProgram(name: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.some((folder) => existsSync(join(folder, name)));
}
