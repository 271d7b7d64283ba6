import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Delta, decodeDelta, type UnresolvedInstance } from '../../src/replication/delta.ts';
import { Spool } from '../../src/replication/spool.ts';
import { createSpoolAggregator } from '../../src/replication/spool-aggregator.ts';
import type { DeltaRoom } from '../../src/replication/stages.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { seriesPerEnvironment, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';
import { openUsageTables, type StreamWatermark } from '../../src/storage/lmdb/usage.ts';
import { BatchFiller, packet } from '../support/random-batches.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { applyDelta, readModel, UsageModel } from '../support/usage-model.ts';

const watermarkAt = (at: number): StreamWatermark => ({ at, applied: at, version: at });

/** A spool that is written in this thread, and reopened for each process. */
class Node {
  readonly #data = temporaryDirectory();
  readonly #room: DeltaRoom;
  #starts = 0;
  spool!: Spool;
  aggregator!: ReturnType<typeof createSpoolAggregator>;

  constructor(room: DeltaRoom) {
    this.#room = room;
  }

  start(now: number): void {
    this.#starts += 1;
    this.spool = new Spool(this.#data, () => 'directory');
    this.aggregator = createSpoolAggregator(
      this.spool.store,
      { stream: `stream-${this.#starts}`, watermark: watermarkAt(now), maxIdentities: 100 },
      this.#room,
    );
  }

  /** Finishes the current round, and does another round. */
  sealAll(now: number): void {
    let sealed = 0;
    while (sealed < now) sealed = this.aggregator.seal({ watermark: watermarkAt(now) }).watermark.at;
  }

  async restart(now: number): Promise<void> {
    await this.spool.close();
    this.start(now);
  }

  deltas(): Delta[] {
    return this.spool.streams().flatMap(({ stream }) => {
      return this.spool.deltas(stream, 1, 100_000).map(({ body, ...head }) => {
        const delta = decodeDelta(body);
        expect(delta).toMatchObject(head);
        return delta;
      });
    });
  }
}

/**
 * Size limits of a delta, as small as one row. A round then takes many steps, and packets arrive between these steps.
 */
const room = fc.record({ rows: fc.integer({ min: 1, max: 60 }), bytes: fc.constantFrom(100, 1000, 100_000) });

const step = fc.record({
  packets: fc.array(packet, { maxLength: 8 }),
  seals: fc.nat(2),
  restart: fc.integer({ min: 0, max: 9 }).map((each) => each === 0),
});

test('deltas sealed at any time add up to the counts of a single machine', async () => {
  await fc.assert(
    fc.asyncProperty(room, fc.array(step, { maxLength: 12 }), async (size, steps) => {
      const embedded = openUsageTables(temporaryDirectory());
      const { write } = createAggregator(embedded);
      const plain = new BatchFiller();
      const filler = new BatchFiller();
      const node = new Node(size);
      node.start(0);
      for (const [at, { packets, seals, restart }] of steps.entries()) {
        write(plain.fill(packets, at).seal());
        node.aggregator.write(filler.fill(packets, at).seal());
        for (let seal = 0; seal < seals; seal += 1) node.aggregator.seal({ watermark: watermarkAt(at + 1) });
        if (restart) await node.restart(at + 1);
      }
      node.sealAll(steps.length + 1);
      const model = new UsageModel();
      const deltas = node.deltas();
      for (const delta of deltas) applyDelta(model, delta);
      expect(model.content()).toEqual(readModel(embedded).content());
      const unknown = steps.flatMap(({ packets }) => packets).filter((each) => each.unknown && each.entries.length > 0);
      expect(deltas.flatMap(listUnresolved)).toHaveLength(unknown.length);
      expectNamed(deltas);
      expectBounds(deltas);
      await node.spool.close();
      await embedded.lmdb.close();
    }),
    { numRuns: 15 },
  );
});

/** Checks that each series is named in the delta that refers to it, or in an earlier delta. */
function expectNamed(deltas: readonly Delta[]): void {
  const named = new Set<string>();
  for (const delta of deltas) {
    for (const { environment, ordinal } of delta.series) {
      named.add(`${delta.stream} ${seriesRef(environment, ordinal)}`);
    }
    for (const ref of listRefs(delta)) {
      if (ref % seriesPerEnvironment === environmentOrdinal) continue;
      expect(named).toContain(`${delta.stream} ${ref}`);
    }
  }
}

function listUnresolved({ unresolved, messages }: Delta): UnresolvedInstance[] {
  return [...unresolved, ...messages.flatMap((each) => each.unresolved)];
}

function listRefs(delta: Delta): number[] {
  const first = (flat: readonly number[], width: number) => flat.filter((_, at) => at % width === 0);
  return [
    ...first(delta.counts, 5),
    ...first(delta.measurements, 8),
    ...first(delta.seen, 3),
    ...delta.sketches.map(({ ref }) => ref),
    ...delta.senders.map(({ environment, ordinal }) => seriesRef(environment, ordinal)),
    ...listUnresolved(delta).flatMap(({ rows }) => first(rows, 5)),
    ...delta.exposures.flatMap(({ environment, rows }) => first(rows, 6).map((each) => seriesRef(environment, each))),
    ...delta.messages.flatMap(({ counts, measurements, users }) => {
      return [...first(counts, 5), ...first(measurements, 4), ...first(users, 4)];
    }),
  ];
}

/** Checks the time bounds of deltas. In this test, the times of people and of watermarks are numbers of steps. */
function expectBounds(deltas: readonly Delta[]): void {
  for (const [at, delta] of deltas.entries()) {
    const times = (of: readonly Delta[]) =>
      of.flatMap(({ exposures, messages }) => {
        return [exposures, ...messages.map((each) => each.exposures)]
          .flat()
          .flatMap(({ rows }) => rows.filter((_, place) => place % 6 === 1));
      });
    for (const time of times([delta])) expect(time).toBeGreaterThanOrEqual(delta.since);
    const later = deltas.slice(at + 1).filter(({ stream }) => stream === delta.stream);
    for (const time of times(later)) expect(time).toBeGreaterThanOrEqual(Math.max(delta.through, delta.version));
  }
}
