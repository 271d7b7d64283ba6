import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Parts of LMDB's file format that tests damage. */
const pageBytes = 4096;
const kinds = { 1: 'branch', 2: 'leaf', 4: 'overflow' } as const;

/** A kind of page. The free list consists of leaf pages, but has a kind of its own here. */
export type PageKind = 'branch' | 'leaf' | 'overflow' | 'free list';

/** Returns the pages in use by kind, in the newer of the two states that the file contains. */
export function pagesIn(file: string): Map<PageKind, number[]> {
  const bytes = readFileSync(file);
  const newer = bytes.readBigUInt64LE(144) > bytes.readBigUInt64LE(pageBytes + 144) ? 0 : pageBytes;
  const found = new Map<PageKind, number[]>();
  const visit = (page: number, ofFreeList: boolean) => {
    const at = page * pageBytes;
    const kind = kinds[bytes.readUInt16LE(at + 10) as keyof typeof kinds];
    const name = ofFreeList && kind === 'leaf' ? 'free list' : kind;
    found.set(name, [...(found.get(name) ?? []), page]);
    if (kind === 'overflow') return;
    for (let index = at + 16; index < at + bytes.readUInt16LE(at + 12); index += 2) {
      const node = at + bytes.readUInt16LE(index);
      const value = node + 8 + bytes.readUInt16LE(node + 6);
      const flags = bytes.readUInt16LE(node + 4);
      if (kind === 'branch') visit(bytes.readUIntLE(node, 6), ofFreeList);
      else if (flags === 1) visit(Number(bytes.readBigUInt64LE(value)), ofFreeList);
      else if (flags === 2 && bytes.readBigUInt64LE(value + 40) < 2n ** 60n)
        visit(Number(bytes.readBigUInt64LE(value + 40)), ofFreeList);
    }
  };
  for (const root of [80, 128]) {
    const page = bytes.readBigUInt64LE(newer + root);
    if (page < 2n ** 60n) visit(Number(page), root === 80);
  }
  return found;
}

/** Overwrites some bytes of a page. */
export function damagePage(file: string, page: number, at: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, page * pageBytes + at);
  closeSync(descriptor);
}
