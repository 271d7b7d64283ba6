import type { JournalFile, JournalFiles } from '../../../src/storage/journal/files.ts';

/** An operation of the file system. `create` is the mode of `open` that makes a file. */
export interface Operation {
  readonly kind:
    | 'list'
    | 'size'
    | 'open'
    | 'create'
    | 'read'
    | 'write'
    | 'sync'
    | 'rename'
    | 'remove'
    | 'syncDirectory';
  readonly name: string;
  /** Bytes of a write; 0 otherwise. */
  readonly length: number;
}

/**
 * `short`: a write stops half-way, without an error. `lie`: the operation reports success, and does nothing. `kill`:
 * the process ends before the operation, so this operation and all later ones throw, until the next process begins.
 */
export type Fault = 'EIO' | 'ENOSPC' | 'EMFILE' | 'short' | 'lie' | 'kill';

const sector = 512;
const sectorsOfPage = 8;

/** A file: the content that processes see, the content on disk, and the writes to each sector since the last sync. */
interface Inode {
  seen: Uint8Array;
  disk: Uint8Array;
  readonly unsynced: Map<number, Uint8Array[]>;
}

type EntryChange = (entries: Map<string, Inode>) => void;

/**
 * A file system in memory that loses as much data as a real disk can lose. A power loss keeps any version of each
 * unsynced sector, or of each page, and any of the unsynced changes to the directory. After a failed sync, some of the
 * data is on disk, and the other data never reaches the disk.
 */
export class LossyDisk implements JournalFiles {
  readonly directory = '/journal';
  readonly operations: Operation[] = [];
  /** Returns the fault of an operation. Called before each operation. */
  fault: (operation: Operation) => Fault | undefined = () => undefined;
  /** Maximum number of bytes of all files together. */
  capacity = Number.POSITIVE_INFINITY;
  readonly #random: () => number;
  #entries = new Map<string, Inode>();
  #durable = new Map<string, Inode>();
  #changes: EntryChange[] = [];
  #isKilled = false;

  /** @param random numbers from 0 up to, not including, 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  list(): string[] {
    this.#begin('list', '');
    return [...this.#entries.keys()];
  }

  size(name: string): number | undefined {
    this.#begin('size', name);
    return this.#entries.get(name)?.seen.length;
  }

  open(name: string, mode: 'read' | 'write' | 'create'): JournalFile {
    this.#begin(mode === 'create' ? 'create' : 'open', name);
    if (mode === 'create') {
      const inode = { seen: new Uint8Array(), disk: new Uint8Array(), unsynced: new Map() };
      this.#change((entries) => entries.set(name, inode));
    }
    const inode = this.#entries.get(name);
    if (inode === undefined) throw failure('ENOENT', name);
    return this.#handle(name, inode);
  }

  rename(from: string, to: string): void {
    if (this.#begin('rename', from) === 'lie') return;
    if (!this.#entries.has(from)) throw failure('ENOENT', from);
    this.#change((entries) => {
      const inode = entries.get(from);
      if (inode !== undefined) entries.set(to, inode).delete(from);
    });
  }

  remove(name: string): void {
    if (this.#begin('remove', name) !== 'lie') this.#change((entries) => entries.delete(name));
  }

  syncDirectory(): void {
    if (this.#begin('syncDirectory', '') === 'lie') return;
    this.#durable = new Map(this.#entries);
    this.#changes = [];
  }

  /** Begins the next process after the previous process was killed. Open files must be forgotten. */
  restart(): void {
    this.#isKilled = false;
  }

  /** Begins the next process as `restart` does, with one of the possible states of the disk. */
  losePower(): void {
    this.restart();
    const isOrdered = this.#random() < 0.5;
    const kept = Math.floor(this.#random() * (this.#changes.length + 1));
    this.#changes.forEach((change, index) => {
      if (isOrdered ? index < kept : this.#random() < 0.5) change(this.#durable);
    });
    this.#changes = [];
    this.#entries = new Map(this.#durable);
    for (const inode of this.#entries.values()) {
      this.#reach(inode, this.#draw());
      inode.seen = inode.disk.slice();
    }
  }

  /** Changes a file durably, bypassing the journal. */
  alter(name: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const inode = this.#entries.get(name)!;
    inode.seen = change(inode.seen.slice());
    inode.disk = inode.seen.slice();
    inode.unsynced.clear();
  }

  /** The content of a file. */
  contents(name: string): Uint8Array {
    return this.#entries.get(name)!.seen.slice();
  }

  /** Adds or replaces a file durably, bypassing the journal. */
  put(name: string, bytes: Uint8Array): void {
    const inode: Inode = { seen: bytes.slice(), disk: bytes.slice(), unsynced: new Map() };
    this.#entries.set(name, inode);
    this.#durable.set(name, inode);
  }

  #begin(kind: Operation['kind'], name: string, length = 0): Fault | undefined {
    const operation = { kind, name, length };
    this.operations.push(operation);
    const fault = this.#isKilled ? 'kill' : this.fault(operation);
    this.#isKilled = fault === 'kill';
    if (this.#isKilled) throw new Error('the process was killed');
    const isSilent = fault === 'lie' || kind === 'write' || kind === 'sync';
    if (fault !== undefined && !isSilent) throw failure(fault, name);
    return fault;
  }

  #change(change: EntryChange): void {
    change(this.#entries);
    this.#changes.push(change);
  }

  #handle(name: string, inode: Inode): JournalFile {
    return {
      read: (target, offset) => {
        this.#begin('read', name);
        const bytes = inode.seen.subarray(offset, offset + target.length);
        target.set(bytes);
        return bytes.length;
      },
      write: (bytes, offset) => this.#write(name, inode, bytes, offset),
      sync: () => {
        const fault = this.#begin('sync', name);
        if (fault === 'lie') return;
        this.#reach(inode, fault === undefined ? (versions) => versions.length : this.#draw());
        if (fault !== undefined) throw failure(fault, name);
      },
      checkPlace: () => {
        if (this.#entries.get(name) !== inode) throw new Error(`${name} was removed, moved or replaced`);
      },
      close: () => undefined,
    };
  }

  #write(name: string, inode: Inode, bytes: Uint8Array, offset: number): number {
    const fault = this.#begin('write', name, bytes.length);
    if (fault === 'lie') return bytes.length;
    const growth = offset + bytes.length - inode.seen.length;
    const used = [...this.#entries.values()].reduce((sum, { seen }) => sum + seen.length, 0);
    const surplus = Math.max(0, Math.min(growth, used + growth - this.capacity));
    const written = fault === undefined ? bytes.length - surplus : Math.floor(bytes.length * this.#random());
    this.#store(inode, bytes.subarray(0, written), offset);
    if (fault !== undefined && fault !== 'short') throw failure(fault, name);
    if (written === 0 && bytes.length > 0) throw failure('ENOSPC', name);
    return written;
  }

  #store(inode: Inode, bytes: Uint8Array, offset: number): void {
    const end = offset + bytes.length;
    if (end > inode.seen.length) {
      const grown = new Uint8Array(end);
      grown.set(inode.seen);
      inode.seen = grown;
    }
    inode.seen.set(bytes, offset);
    for (let index = Math.floor(offset / sector); index * sector < end; index++) {
      const versions = inode.unsynced.get(index) ?? [];
      versions.push(inode.seen.slice(index * sector, (index + 1) * sector));
      inode.unsynced.set(index, versions);
    }
  }

  /** Returns a function that draws how many unsynced versions are on disk, for each sector or for a whole page. */
  #draw(): (versions: readonly Uint8Array[], index: number) => number {
    const isByPage = this.#random() < 0.5;
    const shares = new Map<number, number>();
    return (versions, index) => {
      const unit = isByPage ? Math.floor(index / sectorsOfPage) : index;
      const share = shares.get(unit) ?? this.#random();
      shares.set(unit, share);
      return Math.floor(share * (versions.length + 1));
    };
  }

  /** Writes one version of each unsynced sector to the disk, and forgets the other versions. */
  #reach(inode: Inode, draw: (versions: readonly Uint8Array[], index: number) => number): void {
    const disk = new Uint8Array(Math.max(inode.disk.length, inode.seen.length));
    disk.set(inode.disk);
    for (const [index, versions] of inode.unsynced) {
      const version = versions[draw(versions, index) - 1];
      if (version !== undefined) disk.set(version, index * sector);
    }
    inode.unsynced.clear();
    inode.disk = disk;
  }
}

function failure(code: string, name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${name}`), { code });
}
