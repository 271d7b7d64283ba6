/** An object with lists, of which a schema refuses something. */
type Lists = Readonly<Record<string, unknown>>;

/** Such an object with less in it, and the position that an entry of a list had before. */
export interface Narrowed {
  readonly body: unknown;
  readonly list?: string;
  readonly at: number;
}

/**
 * Takes out of an object's lists all but the first entry that is refused. To explain a refusal TypeBox visits every entry,
 * and a megabyte of them takes it a second; a check ends at the first one.
 */
export function narrowToFault(body: unknown, isRight: (body: unknown) => boolean): Narrowed | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const lists = Object.entries(body).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const without: Lists = { ...body, ...Object.fromEntries(lists.map(([name]) => [name, []])) };
  if (!isRight(without)) return { body: without, at: 0 };
  for (const [name, entries] of lists) {
    const isRightWith = (some: readonly unknown[]) => isRight({ ...without, [name]: some });
    if (isRightWith(entries)) continue;
    const at = firstFault(entries, isRightWith);
    return { body: { ...without, [name]: [entries[at]] }, list: name, at };
  }
  return undefined;
}

function firstFault(entries: readonly unknown[], isRight: (some: readonly unknown[]) => boolean): number {
  let [from, to] = [0, entries.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (isRight(entries.slice(from, middle))) from = middle;
    else to = middle;
  }
  return from;
}

/** The JSON pointer into a narrowed object as one into the object that it was. */
export function pointerBefore(pointer: string, { list, at }: Narrowed): string {
  const prefix = `/${list}/0`;
  return list !== undefined && pointer.startsWith(prefix)
    ? `/${list}/${at}${pointer.slice(prefix.length)}`
    : pointer;
}
