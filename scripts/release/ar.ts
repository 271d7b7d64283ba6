import { padding } from './tar.ts';

/** Builds an archive in the format of `ar`, which Debian packages have. @param members files by name */
export function createAr(members: Readonly<Record<string, Buffer>>, epoch: number): Buffer {
  const parts = Object.entries(members).flatMap(([name, bytes]) => [
    Buffer.from(
      `${name.padEnd(16)}${String(epoch).padEnd(12)}0     0     100644  ${String(bytes.length).padEnd(10)}\`\n`,
    ),
    bytes,
    Buffer.alloc(padding(bytes.length, 2), '\n'),
  ]);
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts]);
}
