import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { decodeEnvelope, encodeEnvelope } from '../../../src/storage/commit/envelope.ts';
import { FrameAppender } from '../../../src/storage/commit/frame-appender.ts';
import { FrameSlot, JournalState } from '../../../src/storage/commit/journal-memory.ts';
import { eachCount } from '../../../src/storage/commit/records.ts';
import { recycle } from '../../../src/storage/journal/directory.ts';
import { JournalReader } from '../../../src/storage/journal/reader.ts';
import { seededRandom } from '../../support/random.ts';
import { type Fault, LossyDisk, type Operation } from '../journal/lossy-disk.ts';

const threads = [0, 1, 2, 3];
const segmentSize = 12_288;
const bell = new Int32Array(new SharedArrayBuffer(4));

/** A step: some threads pass a batch each, and the journal's thread appends the batches. */
interface Step {
  readonly batches: readonly { readonly thread: number; readonly size: number }[];
  /** A fault of one of the next operations of the file system, and whether the power then fails. */
  readonly trouble: { readonly fault: Fault; readonly at: number; readonly losesPower: boolean } | undefined;
}

const step = fc.record<Step>({
  batches: fc.uniqueArray(fc.record({ thread: fc.constantFrom(...threads), size: fc.nat(60) }), {
    selector: ({ thread }) => thread,
    minLength: 1,
  }),
  trouble: fc.option(
    fc.record({
      fault: fc.constantFrom<Fault>('EIO', 'ENOSPC', 'short', 'kill', 'kill'),
      at: fc.integer({ min: 1, max: 9 }),
      losesPower: fc.boolean(),
    }),
    { nil: undefined, freq: 3 },
  ),
});

/** A process that is killed and starts again, and the results that its threads received for their batches. */
class Schedule {
  readonly #disk: LossyDisk;
  readonly #lies: (operation: Operation) => boolean;
  /** The numbers of each thread's batches that must be read, in order. `#unknown` has batches that may be read. */
  readonly #kept = threads.map((): number[] => []);
  readonly #unknown = threads.map((): number | undefined => undefined);
  readonly #read = threads.map((): number[] => []);
  #frames = 0;
  #slots: FrameSlot[] = [];
  #appender!: FrameAppender;
  #number = 0;

  constructor(seed: number, lies: (operation: Operation) => boolean) {
    this.#disk = new LossyDisk(seededRandom(seed));
    this.#lies = lies;
  }

  run(steps: readonly Step[]): void {
    this.#start();
    for (const each of steps) this.#step(each);
    this.#disk.losePower();
    this.#start();
  }

  get #journal() {
    return { files: this.#disk, id: Buffer.alloc(16, 1), segmentSize };
  }

  #step({ batches, trouble }: Step): void {
    let left = trouble?.at ?? 0;
    this.#disk.fault = (operation) => {
      if (trouble !== undefined && operation.kind !== 'read' && --left === 0) return trouble.fault;
      return this.#lies(operation) ? 'lie' : undefined;
    };
    for (const { thread, size } of batches) this.#pass(thread, size);
    this.#appender.appendWaiting(() => {});
    const isKilled = trouble?.fault === 'kill' && left <= 0;
    const hasFailed = batches.map(({ thread }) => this.#settle(thread, isKilled)).includes(true);
    this.#disk.fault = (operation) => (this.#lies(operation) ? 'lie' : undefined);
    if (!isKilled && !hasFailed) return;
    if (trouble?.losesPower) this.#disk.losePower();
    else this.#disk.restart();
    this.#start();
  }

  #pass(thread: number, size: number): void {
    const batch = new Batch();
    this.#unknown[thread] = ++this.#number;
    for (let record = 0; record <= size; record++) batch.counts.add(thread, this.#number, 1, 0, 0);
    const slot = this.#slots[thread]!;
    slot.put(encodeEnvelope(batch.seal()));
    slot.ring(bell, 0);
  }

  /** Records a result, unless the process was killed. @returns true if the journal rejects all later frames */
  #settle(thread: number, isKilled: boolean): boolean {
    const { failure } = this.#slots[thread]!;
    if (failure !== undefined && isKilled) return true;
    const mayBeRead = failure?.message.includes('The next start can still count the frame');
    if (failure === undefined) this.#kept[thread]!.push(this.#unknown[thread]!);
    if (!mayBeRead) this.#unknown[thread] = undefined;
    return failure?.code === 'journal_failed';
  }

  /** Reads the frames that the store lacks, as startup does, and compares them with the results of the threads. */
  #start(): void {
    const reader = new JournalReader(this.#journal, this.#frames);
    for (const { sequence, body } of reader.frames()) {
      const found = new Set<string>();
      eachCount(decodeEnvelope(body), (thread, number) => void found.add(`${thread} ${number}`));
      for (const each of found) {
        const [thread, number] = each.split(' ').map(Number) as [number, number];
        this.#read[thread]!.push(number);
      }
      this.#frames = sequence;
    }
    reader.close();
    for (const thread of threads) {
      const kept = this.#kept[thread]!;
      const unknown = this.#unknown[thread];
      if (unknown !== undefined && this.#read[thread]!.at(-1) === unknown) kept.push(unknown);
      this.#unknown[thread] = undefined;
    }
    expect(this.#read).toEqual(this.#kept);
    recycle(this.#journal, this.#frames, this.#frames);
    this.#slots = threads.map(() => new FrameSlot(segmentSize));
    const state = new JournalState();
    state.publish({ sequence: this.#frames, bytes: 0, segment: 0, used: 0 });
    this.#appender = new FrameAppender(this.#journal, this.#slots, state);
  }
}

const seed = Number(process.env['JOURNAL_SEED'] ?? 1);
const numRuns = Number(process.env['JOURNAL_SCHEDULES'] ?? 150);

function check(lies: (operation: Operation) => boolean = () => false) {
  const schedules = fc.tuple(fc.nat(), fc.array(step, { maxLength: 30, size: 'max' }));
  return fc.check(
    fc.property(schedules, ([disk, steps]) => new Schedule(disk, lies).run(steps)),
    { seed, numRuns },
  );
}

describe('FrameAppender in random schedules of appends, crashes and failures', () => {
  it('a replay returns each acknowledged batch once, in the order of its thread, and no refused batch', {
    timeout: 120_000 + 20 * numRuns,
  }, () => {
    const details = check();
    expect(details.failed, fc.defaultReportMessage(details)).toBe(false);
  });

  it('the check of random schedules finds lost batches if the journal does not call fdatasync', () => {
    expect(check(({ kind, name }) => kind === 'sync' && name.endsWith('.segment')).failed).toBe(true);
  });
});
