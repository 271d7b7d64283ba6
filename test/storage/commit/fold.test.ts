import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import {
  decodeEnvelope,
  type Envelope,
  encodeEnvelope,
  hasMessages,
  joinBodies,
} from '../../../src/storage/commit/envelope.ts';
import { digestOfInstance } from '../../../src/storage/lmdb/instances.ts';
import { readRollUpState } from '../../../src/storage/lmdb/roll-up-state.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { BatchFiller, packet, type TestPacket, testEnvironments } from '../../support/random-batches.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { dump } from '../../support/whole-batch.ts';

const at = 1_800_000_000;

interface Step {
  readonly packets: readonly TestPacket[];
  readonly mints: boolean;
  readonly forgets: boolean;
}

/** Returns batches in the form in which they are sent to the worker. */
function sealed(steps: readonly Step[]): Envelope[] {
  const filler = new BatchFiller();
  return steps.map(({ packets, mints, forgets }) => {
    const batch = filler.fill(packets, at);
    const [used] = batch.uses;
    if (used === undefined) return batch.seal();
    if (mints) batch.mints.push({ ...used, high: 1, low: 2, profile: '{}', graceUntil: 0 });
    const digest = digestOfInstance(used.instanceId)!.toString('hex');
    if (forgets) batch.forgotten.push({ application: 1, environments: testEnvironments, digest });
    return batch.seal();
  });
}

/** All stored data. Late additions are counted per transaction, so only their presence is compared. */
function counted(store: UsageTables) {
  const rows = dump(store).filter((row) => !row.startsWith('carried'));
  const carried = testEnvironments.map((environment) => {
    const { late, lateUsers, ...marks } = readRollUpState(store.carried, environment);
    return { ...marks, late: late > 0, lateUsers: lateUsers > 0 };
  });
  return { rows, carried };
}

const encodeBody = (envelope: Envelope) => Buffer.concat(encodeEnvelope(envelope));

/** Returns the envelopes that a fold reads. Batches that several threads wrote at the same time share a frame. */
function inFrames(steps: readonly (Step & { readonly joins: boolean })[], envelopes: readonly Envelope[]) {
  const frames: { bodies: Buffer[]; forgets: boolean }[] = [];
  for (const [index, { joins, mints, forgets }] of steps.entries()) {
    const body = encodeBody(envelopes[index]!);
    const last = frames.at(-1);
    // Only the first batch of a frame mints or forgets, because one thread handles these requests.
    if (joins && !mints && !forgets && !hasMessages(body) && last && !last.forgets) last.bodies.push(body);
    else frames.push({ bodies: [body], forgets });
  }
  return frames.map(({ bodies }) => decodeEnvelope(Buffer.concat(joinBodies(bodies))));
}

const batches = fc.array(
  fc.record({
    packets: fc.array(packet, { maxLength: 5 }),
    mints: fc.boolean(),
    forgets: fc.boolean(),
    /** True if the batch shares its frame with the previous batch. */
    joins: fc.boolean(),
    /** Result of the fold that starts after this batch; `nothing` if no fold starts. */
    begins: fc.constantFrom('nothing', 'nothing', 'fold', 'failed fold'),
  }),
  { minLength: 1, maxLength: 8 },
);

test('folding any groups of frames results in the same store as one commit per batch, despite failures', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (steps) => {
      const one = openUsageTables(temporaryDirectory());
      const other = openUsageTables(temporaryDirectory());
      const { write } = createAggregator(one);
      const { fold } = createAggregator(other);
      const envelopes = sealed(steps);
      for (const envelope of envelopes) write(envelope);
      let waiting: Envelope[] = [];
      const frames = inFrames(steps, envelopes);
      for (const [index, frame] of frames.entries()) {
        const { begins } = steps[index]!;
        waiting.push(frame);
        if (begins === 'nothing' && index < frames.length - 1) continue;
        if (begins === 'failed fold') {
          const fails = () => {
            throw new Error('the disk is full');
          };
          expect(() => fold('prompt', waiting, fails)).toThrow('the disk is full');
          fold('prompt', waiting, () => {});
          expect(() => fold('people', waiting, fails)).toThrow('the disk is full');
        }
        if (begins !== 'failed fold') fold('prompt', waiting, () => {});
        fold('people', waiting, () => {});
        waiting = [];
      }
      expect(counted(other)).toEqual(counted(one));
      await Promise.all([one.lmdb.close(), other.lmdb.close()]);
    }),
    { numRuns: 60 },
  );
});

test('a frame of a later version is rejected', () => {
  const [body] = encodeEnvelope(sealed([{ packets: [], mints: false, forgets: false }])[0]!);
  body![0] = 4;
  expect(() => decodeEnvelope(body!)).toThrow('a later version of flagmeter wrote the frame, in version 4');
});
