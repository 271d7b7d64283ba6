import { Refusal } from '../../contract/errors.ts';
import type { BodyChunks } from '../../http/types.ts';
import type { FairQueue } from '../../runtime/fair-queue.ts';
import type { ExportRequest } from './make-export.ts';
import { type Chunk, chunkMemory, placeOfChunk } from './rows.ts';

/** The thread that reads exports. */
export interface ExportThread {
  /** Reads the next chunk of an export, or the first chunk of a new export. */
  chunk(request: { readonly id: number; readonly begin?: ExportRequest }): Promise<Chunk>;
  /** Cancels an export between two chunks. */
  stop(id: number): Promise<unknown>;
}

/** Maximum wait for the client, and maximum duration of an export, ms. */
const exportLimits = { idleMs: 60_000, wholeMs: 3_600_000 };

/** Exports in progress, and exports that wait until their team has a free slot. */
export class ExportQueue {
  readonly #queue: FairQueue;
  readonly #thread: ExportThread;
  readonly #limits: typeof exportLimits;
  readonly #underWay = new Set<Export>();
  #begun = 0;

  constructor(queue: FairQueue, thread: ExportThread, limits = exportLimits) {
    this.#queue = queue;
    this.#thread = thread;
    this.#limits = limits;
  }

  /** Resolves with the export when its first chunk is read. @throws {Refusal} of the queue or of the first chunk */
  begin(teamId: string, begin: Omit<ExportRequest, 'memory'>): Promise<BodyChunks> {
    return new Promise((resolve, reject) => {
      const run = async () => {
        this.#begun += 1;
        const one = new Export(this.#thread, this.#begun, this.#limits);
        this.#underWay.add(one);
        try {
          await one.start(begin);
          resolve(one);
          await one.over;
        } finally {
          this.#underWay.delete(one);
        }
      };
      this.#queue.run(teamId, run).catch(reject);
    });
  }

  /** Aborts the exports in progress. */
  close(): void {
    for (const one of this.#underWay) one.fail('The service is stopping');
  }
}

/** One export. While a chunk is sent, the next chunk is read. */
class Export implements BodyChunks {
  /** Resolves when the export is no longer read, and its slot can be reused. */
  readonly over: Promise<void>;
  readonly #thread: ExportThread;
  readonly #id: number;
  readonly #memory = chunkMemory();
  readonly #whole: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;
  #end!: () => void;
  #ready: Promise<Chunk> | undefined;
  #failure: Refusal | undefined;
  #isStopped = false;
  #given = 0;

  constructor(thread: ExportThread, id: number, { idleMs, wholeMs }: typeof exportLimits) {
    this.#thread = thread;
    this.#id = id;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
    // The HTTP engines disconnect a client that stops reading. This timer is for clients that never start to read.
    this.#idle = setTimeout(() => this.fail('The client read nothing'), idleMs).unref();
    this.#whole = setTimeout(() => this.fail('The export took too long'), wholeMs).unref();
  }

  /** Reads the first chunk. */
  async start(begin: Omit<ExportRequest, 'memory'>): Promise<void> {
    const first = this.#thread.chunk({ id: this.#id, begin: { ...begin, memory: this.#memory } });
    this.#keep(first);
    try {
      await first;
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  async next(): Promise<Uint8Array | undefined> {
    this.#idle.refresh();
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#ready === undefined) return undefined;
    const { length, isLast } = await this.#ready;
    if (isLast) this.#ready = undefined;
    else if (!this.#isStopped) this.#keep(this.#thread.chunk({ id: this.#id }));
    const place = placeOfChunk(this.#memory, this.#given);
    this.#given += 1;
    return place.subarray(0, length);
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#whole);
    void this.#letGo().finally(this.#end);
  }

  /** Fails the next chunk, so that the HTTP engine aborts the connection. */
  fail(why: string): void {
    this.#failure ??= new Refusal('store_unavailable', why, 5);
    this.stop();
  }

  #keep(chunk: Promise<Chunk>): void {
    chunk.catch(() => {}); // The chunk can fail before anyone awaits it.
    this.#ready = chunk;
  }

  /** Cancels the export in its thread, after the chunk in progress. */
  async #letGo(): Promise<void> {
    const last = await this.#ready?.catch(() => undefined);
    if (last?.isLast === false) await this.#thread.stop(this.#id).catch(() => {});
  }
}
