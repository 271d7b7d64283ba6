import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file operation of a process: see record-disk.c. */
interface Event {
  readonly kind: string;
  readonly thread: number;
  readonly path: string;
  readonly to: string;
  readonly at: number;
  readonly bytes: Uint8Array;
  /** Number of bytes in the record up to the end of this operation. */
  readonly end: number;
}

/**
 * The durable content of a file, and the writes that may be on disk. `syncs` contains, by thread, how many of these
 * writes a sync in progress covers.
 */
interface Inode {
  disk: Buffer;
  unsynced: Event[];
  readonly syncs: Map<number, number>;
}

const sector = 512;
const headBytes = 32;

function readEvents(record: Buffer, root: string): Event[] {
  const events: Event[] = [];
  for (let offset = 0; offset + headBytes <= record.length; ) {
    const field = (index: number) => record.readUInt32LE(offset + 4 * index);
    const pathEnd = offset + headBytes + field(2);
    const toEnd = offset + headBytes + field(2) + field(3);
    const end = toEnd + (field(7) === 0 ? 0 : field(6));
    const bytes = field(7) === 0 ? Buffer.alloc(field(6)) : record.subarray(toEnd, end);
    const name = (from: number, to: number) => record.toString('utf8', from, to).slice(root.length + 1);
    events.push({
      kind: String.fromCharCode(field(0)),
      thread: field(1),
      path: name(offset + headBytes, pathEnd),
      to: name(pathEnd, toEnd),
      at: field(4) + field(5) * 2 ** 32,
      bytes,
      end,
    });
    offset = end;
  }
  return events;
}

/**
 * A disk that replays a record. After a power loss, it has a content that ext4 can leave. Any unsynced sectors of each
 * file can be missing, in whatever order the file system wrote them. Name changes since the last sync of a directory
 * can be lost. If a change is lost, all later changes are lost, too.
 */
export class RecordedDisk {
  readonly #events: readonly Event[];
  readonly #isFlushed: (path: string) => boolean;
  /** File names that are certainly on disk. Later changes of names may not be on disk yet. */
  readonly #names = new Map<string, Inode>();
  #durable = new Map<string, Inode>();
  #changes: ((names: Map<string, Inode>) => void)[] = [];
  readonly #directorySyncs = new Map<number, number>();
  #next = 0;

  /**
   * @param base directory with the files from before the record
   * @param isFlushed returns false for files whose syncs are ignored
   */
  constructor(
    recordFile: string,
    root: string,
    base: ReadonlyMap<string, Buffer>,
    isFlushed: (path: string) => boolean = () => true,
  ) {
    this.#events = readEvents(readFileSync(recordFile), root);
    this.#isFlushed = isFlushed;
    for (const [path, disk] of base) this.#names.set(path, { disk, unsynced: [], syncs: new Map() });
    this.#durable = new Map(this.#names);
  }

  get events(): number {
    return this.#events.length;
  }

  /** Replays the record up to an event. @returns the number of bytes in the record up to that event */
  goTo(event: number): number {
    for (; this.#next < event; this.#next += 1) this.#apply(this.#events[this.#next]!);
    return this.#events[event - 1]?.end ?? 0;
  }

  /** Writes to a directory what the disk can contain after a power loss. */
  losePower(to: string, random: () => number): void {
    const names = new Map(this.#durable);
    const kept = Math.floor(random() * (this.#changes.length + 1));
    for (const change of this.#changes.slice(0, kept)) change(names);
    for (const [path, inode] of names) {
      const file = join(to, path);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const content = contentAfter(inode, random);
      const end = lastByte(content);
      writeFileSync(file, content.subarray(0, end), { mode: 0o600 });
      truncateSync(file, content.length); // The remaining bytes become zeros.
    }
  }

  #apply(event: Event): void {
    const { kind, path, to, thread } = event;
    if (['journal/1', 'journal', ''].includes(path)) this.#syncDirectory(kind, thread);
    else if (kind === 'r') this.#change((names) => rename(names, path, to));
    else if (kind === 'u') this.#change((names) => names.delete(path));
    else this.#applyToFile(event);
  }

  #applyToFile(event: Event): void {
    const { kind, path, thread } = event;
    const inode = this.#inode(path);
    if (kind === 'w') inode.unsynced.push(event);
    if (kind === 's') inode.syncs.set(thread, inode.unsynced.length);
    if (kind === 'e' && this.#isFlushed(path)) reach(inode, inode.syncs.get(thread) ?? 0);
    if (kind === 'd') reach(inode, inode.unsynced.length);
  }

  #inode(path: string): Inode {
    const known = this.#names.get(path);
    if (known !== undefined) return known;
    const made: Inode = { disk: Buffer.alloc(0), unsynced: [], syncs: new Map() };
    this.#change((names) => names.set(path, made));
    return made;
  }

  #change(change: (names: Map<string, Inode>) => void): void {
    change(this.#names);
    this.#changes.push(change);
  }

  #syncDirectory(kind: string, thread: number): void {
    if (kind === 's') this.#directorySyncs.set(thread, this.#changes.length);
    if (kind !== 'e') return;
    const count = this.#directorySyncs.get(thread) ?? 0;
    for (const change of this.#changes.splice(0, count)) change(this.#durable);
    this.#directorySyncs.clear();
  }
}

function rename(names: Map<string, Inode>, from: string, to: string): void {
  const inode = names.get(from);
  if (inode !== undefined) names.set(to, inode).delete(from);
}

/** Moves the first writes to a file to its durable content. */
function reach(inode: Inode, count: number): void {
  for (const { at, bytes } of inode.unsynced.splice(0, count)) inode.disk = written(inode.disk, at, bytes);
  for (const [thread, covered] of inode.syncs) inode.syncs.set(thread, Math.max(0, covered - count));
}

/** Writes bytes to a content. Returns a copy if it grows; otherwise changes it in place, because it is not shared. */
function written(disk: Buffer, at: number, bytes: Uint8Array): Buffer {
  const end = at + bytes.length;
  const target = end <= disk.length ? disk : Buffer.concat([disk], end);
  target.set(bytes, at);
  return target;
}

/**
 * Returns a possible content of a file. Each unsynced write can be complete, missing, truncated, or only in some
 * sectors.
 */
function contentAfter({ disk, unsynced }: Inode, random: () => number): Buffer {
  let content: Buffer = Buffer.from(disk);
  for (const { at, bytes } of unsynced) {
    const kind = Math.floor(random() * 4);
    const beginning = Math.floor(random() * bytes.length);
    for (let from = 0; from < bytes.length; from += sector) {
      const isThere = [true, false, from < beginning, random() < 0.5][kind];
      if (isThere) content = written(content, at + from, bytes.subarray(from, from + sector));
    }
  }
  return content;
}

function lastByte(content: Buffer): number {
  let end = content.length;
  while (end >= 8 && content.readDoubleLE(end - 8) === 0 && content[end - 1] === 0) end -= 8;
  return end;
}
