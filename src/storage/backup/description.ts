import Type from 'typebox';
import Value from 'typebox/value';
import { maxStoreBytes } from '../lmdb/lmdb.ts';
import { isPageSize } from '../lmdb/lmdb-page.ts';
import type { Description, End, StoreDescription } from './format.ts';

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
  // They are printed.
  program: Type.String({ pattern: '^[0-9A-Za-z.+-]{1,64}$' }),
  at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  stores: Type.Array(storeSchema, { minItems: 2, maxItems: 2 }),
});

const laterSchema = Type.Object({ format: count, program: descriptionSchema.properties.program });

const endSchema = Type.Object({
  pages: count,
  mac: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
});

/** A store has two meta pages. */
export const metaPageCount = 2;

/** Maximum number of pages that neither a tree nor the free list refers to. A sound file has none; a defect may have leaked some. */
const slackPages = 2 ** 14;

/** The format, possibly a later one, and the program that wrote it; `undefined` if the block is not a description. */
export function formatOf(content: Buffer): Pick<Description, 'format' | 'program'> | undefined {
  return checked(content, (value) => Value.Check(laterSchema, value) && value);
}

/**
 * The description of a backup; `undefined` if its numbers are impossible.
 * @param size of the backup, if known
 */
export function descriptionOf(content: Buffer, size: number | undefined): Description | undefined {
  return checked(content, (value) => {
    if (!Value.Check(descriptionSchema, value)) return false;
    const { stores } = value;
    const bytes = stores.reduce((sum, each) => sum + each.pages * each.pageSize, 0);
    const isSound = stores[0]!.store !== stores[1]!.store && stores.every(isPossible);
    return isSound && (size === undefined || bytes < size) && (value as Description);
  });
}

/** The end of a backup; `undefined` if it is not one. */
export function endOf(content: Buffer): End | undefined {
  return checked(content, (value) => Value.Check(endSchema, value) && (value as End));
}

/**
 * Whether a store can have these numbers. Each page missing from the backup takes eight bytes on the free list, which is in the
 * backup. A small backup therefore cannot describe a large file.
 */
function isPossible({ pageSize, lastPage, pages }: Omit<StoreDescription, 'store' | 'layout'>): boolean {
  if (!isPageSize(pageSize)) return false;
  const most = pages * (1 + pageSize / 8) + slackPages;
  return (
    pages >= metaPageCount &&
    pages <= lastPage + 1 &&
    lastPage < most &&
    (lastPage + 1) * pageSize <= maxStoreBytes
  );
}

function checked<T>(content: Buffer, check: (value: unknown) => T | false): T | undefined {
  try {
    return check(JSON.parse(content.toString())) || undefined;
  } catch {
    return undefined;
  }
}
