/*
 * src/storage/backup: copies of a data directory. write-backup.ts copies both stores at one point while a service
 * writes to them, read-backup.ts checks a copy, restore.ts creates a data directory from a copy, and check-directory.ts
 * checks a directory.
 */

import { createHash } from 'node:crypto';
import Type from 'typebox';
import Value from 'typebox/value';
import { isPageSize } from '../lmdb/check-pages.ts';
import { maxStoreBytes } from '../lmdb/lmdb.ts';

/**
 * The format of a backup. It begins with `magic`; blocks follow. A block consists of its kind (u8), three zeros, the
 * length of its content (u32, little-endian), the content, and a SHA-256 digest. The digest covers the digest of the
 * previous block (empty for the first), the first eight bytes of the block and the content, so no block can be changed,
 * left out, repeated or moved.
 *
 * The first block is a `Description` as JSON. Blocks of pages follow, each with the number of its store (u32,
 * little-endian), the number of its first page (f64, little-endian), and the pages, in ascending order. Each store
 * begins with its two meta pages. The last block is the `End` as JSON.
 *
 * A digest detects damage. An attacker can compute new digests, but not a MAC, which needs the key of
 * `--backup-key-file`. The MAC is an HMAC-SHA-256 of the digest before the last block and of the JSON of the last block
 * without the MAC.
 */
export const magic = Buffer.from('flagmeter backup');
export const formatNumber = 1;
export const blockKind = { description: 1, pages: 2, end: 3 } as const;
export const headBytes = 8;
export const digestBytes = 32;
export const pagesHeadBytes = 12;

/** Maximum bytes of pages in a block of pages. The next constant is the maximum length of any block. */
export const maxPagesBytes = 1024 * 1024;
export const maxContentBytes = 2 * maxPagesBytes;

export interface Description {
  readonly format: number;
  readonly program: string;
  /** Time of the backup, RFC 3339. */
  readonly at: string;
  readonly stores: readonly StoreDescription[];
}

export interface StoreDescription {
  readonly store: 'accounts' | 'usage';
  readonly layout: number;
  readonly pageSize: number;
  /** Number of the last page of the file. Pages are numbered from 0. */
  readonly lastPage: number;
  /** Number of pages in the backup. */
  readonly pages: number;
}

export interface End {
  readonly pages: number;
  /** The MAC as hex; absent in a backup made without a key. */
  readonly mac?: string;
}

/** The bytes that the MAC of a backup covers. @param digest the digest of the second-last block */
export function coveredBy({ pages }: End, digest: Buffer): readonly Buffer[] {
  return [digest, Buffer.from(JSON.stringify({ pages }))];
}

export class BlockChain {
  #before = Buffer.alloc(0);

  get last(): Buffer {
    return this.#before;
  }

  /** @param chunks the block without its digest */
  digest(chunks: readonly Buffer[]): Buffer {
    const hash = createHash('sha256').update(this.#before);
    for (const chunk of chunks) hash.update(chunk);
    this.#before = hash.digest();
    return this.#before;
  }
}

export function encodeHead(kind: number, length: number): Buffer {
  const head = Buffer.alloc(headBytes);
  head[0] = kind;
  head.writeUInt32LE(length, 4);
  return head;
}

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const storeSchema = Type.Object({
  store: Type.Enum(['accounts', 'usage']),
  layout: count,
  pageSize: count,
  lastPage: count,
  pages: count,
});

const descriptionSchema = Type.Object({
  format: count,
  // The patterns restrict these texts, because people see them.
  program: Type.String({ pattern: '^[0-9A-Za-z.+-]{1,64}$' }),
  at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  stores: Type.Array(storeSchema, { minItems: 2, maxItems: 2 }),
});

const laterSchema = Type.Object({ format: count, program: descriptionSchema.properties.program });

const endSchema = Type.Object({ pages: count, mac: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })) });

export const metaPageCount = 2;

/** Maximum number of pages that neither a tree nor the free list refers to. Only a defect leaks such pages. */
const slackPages = 2 ** 14;

/** The format number and the program of a description, even in a later format; `undefined` for other data. */
export function readFormat(content: Buffer): Pick<Description, 'format' | 'program'> | undefined {
  return checked(content, (value) => Value.Check(laterSchema, value) && value);
}

/** The description of a backup; `undefined` if its numbers are impossible. */
export function readDescription(content: Buffer): Description | undefined {
  return checked(content, (value) => {
    if (!Value.Check(descriptionSchema, value)) return false;
    const { stores } = value;
    const isSound = stores[0]!.store !== stores[1]!.store && stores.every(isPossible);
    return isSound && (value as Description);
  });
}

export function countPageBytes({ stores }: Description): number {
  return stores.reduce((sum, { pages, pageSize }) => sum + pages * pageSize, 0);
}

export function readEnd(content: Buffer): End | undefined {
  return checked(content, (value) => Value.Check(endSchema, value) && (value as End));
}

/**
 * True if the numbers are possible. The backup omits free pages, but has eight bytes for each in its free list. A small
 * backup thus cannot describe a large file.
 */
function isPossible({ pageSize, lastPage, pages }: Omit<StoreDescription, 'store' | 'layout'>): boolean {
  if (!isPageSize(pageSize)) return false;
  const most = pages * (1 + pageSize / 8) + slackPages;
  return (
    pages >= metaPageCount && pages <= lastPage + 1 && lastPage < most && (lastPage + 1) * pageSize <= maxStoreBytes
  );
}

function checked<T>(content: Buffer, check: (value: unknown) => T | false): T | undefined {
  try {
    return check(JSON.parse(content.toString())) || undefined;
  } catch {
    return undefined;
  }
}
