import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { whyNoPostgres } from './postgres-program.ts';

/** Debian's packages that some tests need, and whether each is there. */
const packages = {
  dpkg: hasProgram('dpkg-deb'),
  faketime: hasProgram('faketime'),
  'golang-github-masterminds-sprig-dev':
    hasProgram('go') && existsSync('/usr/share/gocode/src/github.com/Masterminds/sprig'),
  haproxy: hasProgram('haproxy'),
  iproute2: hasProgram('ip'),
  'man-db': hasProgram('man'),
  nftables: hasProgram('nft'),
  nginx: hasProgram('nginx'),
  prometheus: hasProgram('prometheus') && hasProgram('promtool'),
  postgresql: whyNoPostgres === undefined,
  spin: hasProgram('spin'),
  systemd: hasProgram('systemd-analyze'),
  'systemd-container': hasProgram('systemd-nspawn'),
} as const;

export type Package = keyof typeof packages;

/** In CI nothing may be left out unseen: there a test runs without what it needs, and fails. */
const isLeftOut = (name: Package) => process.env['CI'] === undefined && !packages[name];

/** The packages whose tests are skipped, because they are not installed. */
export const skipped: readonly Package[] = (Object.keys(packages) as Package[]).filter(isLeftOut);

/** Servers are where only root looks for programs. */
function hasProgram(name: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.some((folder) => existsSync(join(folder, name)));
}
