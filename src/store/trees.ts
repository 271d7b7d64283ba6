/** How a page lies in LMDB's file, in version 1 of its format: 64 bits, little-endian. */
const header = { page: 0, kind: 10, end: 12, bytes: 16 };
const pageKind = { branch: 1, leaf: 2 };
const node = { bytes: 0, kind: 4, keyBytes: 6, key: 8 };
const nodeKind = { overflow: 1, tree: 2 };
/** Where a leaf's record of a tree has the tree's root. */
const treeRoot = 40;

/** What a page refers to: pages of its own tree, or another tree's root, which refer to more; or those of a long value. */
interface Reference {
  readonly page: number;
  readonly count: number;
  readonly leadsOn: boolean;
}

/** The root of a tree that is empty. */
const noPage = 2 ** 64;

/**
 * Whether everything that the trees of an LMDB file refer to is on its pages, and is what it should be.
 * @param read gives a page by its number
 * @param roots the pages where the trees begin
 * @param pages how many pages there are
 */
export function treesAreWhole(
  read: (page: number) => Buffer,
  roots: readonly number[],
  pages: number,
): boolean {
  const waiting = [...roots];
  try {
    // Trees share no pages, so there are no more turns than pages; those of a damaged file could go round for ever.
    for (let turns = 0; waiting.length > 0; ) {
      const page = waiting.pop()!;
      if (page === noPage) continue;
      turns += 1;
      if (page >= pages || turns > pages) return false;
      const bytes = read(page);
      if (readNumber(bytes, header.page) !== page) return false;
      for (const reference of referencesOf(bytes)) {
        if (reference.leadsOn) waiting.push(reference.page);
        else if (reference.page + reference.count > pages) return false;
      }
    }
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false; // What is on a page refers to what is outside of it.
    throw error;
  }
}

function* referencesOf(page: Buffer): Generator<Reference> {
  const kind = page.readUInt16LE(header.kind);
  const nodes = (page.readUInt16LE(header.end) - header.bytes) / 2;
  for (let index = 0; index < nodes; index += 1) {
    const at = page.readUInt16LE(header.bytes + index * 2);
    if (kind & pageKind.branch) yield { page: page.readUIntLE(at, 6), count: 1, leadsOn: true };
    else if (kind & pageKind.leaf) yield* referenceOfLeaf(page, at);
  }
}

function* referenceOfLeaf(page: Buffer, at: number): Generator<Reference> {
  const kind = page.readUInt16LE(at + node.kind);
  const value = at + node.key + page.readUInt16LE(at + node.keyBytes);
  if (kind & nodeKind.tree) yield { page: readNumber(page, value + treeRoot), count: 1, leadsOn: true };
  if (kind & nodeKind.overflow) {
    const bytes = header.bytes + page.readUInt32LE(at + node.bytes);
    yield { page: readNumber(page, value), count: Math.ceil(bytes / page.length), leadsOn: false };
  }
}

/** A number of 64 bits, which is exact as far as any file reaches. */
export function readNumber(page: Buffer, at: number): number {
  return Number(page.readBigUInt64LE(at));
}
