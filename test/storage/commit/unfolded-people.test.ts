import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnfoldedPeople } from '../../../src/storage/commit/unfolded-people.ts';
import {
  findInstance,
  type HashedMint,
  type HashedUse,
  hashedId,
  type IdentityTables,
  putHashedMint,
  putHashedUse,
  removeIdentity,
} from '../../../src/storage/lmdb/instances.ts';

/** Creates tables in memory that count their reads. */
function openTables() {
  let reads = 0;
  const table = (): IdentityTables['identities'] => {
    const records = new Map<string, Buffer>();
    const encodeName = (key: Buffer) => key.toString('latin1');
    return {
      get(key) {
        reads += 1;
        return records.get(encodeName(key));
      },
      putSync: (key, value) => records.set(encodeName(key), value),
      removeSync: (key) => records.delete(encodeName(key)),
      resetReadTxn: () => {},
    };
  };
  return { identities: table(), identityDays: table(), reads: () => reads };
}

const application = 1;
const formatDigest = (person: number) => String(person).padStart(32, '0');
const formatId = (person: number, serial: number) => `fm_in_${formatDigest(person)}${String(serial).padStart(40, '0')}`;

function createMint(person: number, serial: number): HashedMint {
  const high = person;
  const low = serial;
  const times = { expiresAt: 1000 + serial, graceUntil: 100 + serial };
  return hashedId({ application, instanceId: formatId(person, serial), high, low, profile: `{${serial}}`, ...times });
}

function createUse(person: number, serial: number): HashedUse {
  return hashedId({ application, instanceId: formatId(person, serial), expiresAt: 5000 + serial });
}

type Step = readonly [
  kind: 'mint' | 'use' | 'forget' | 'read' | 'begin' | 'fold' | 'end',
  person: number,
  serial: number,
];

const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step[0][]>('mint', 'mint', 'use', 'forget', 'read', 'begin', 'fold', 'end'),
    fc.nat(2),
    fc.nat(5),
  ),
  { maxLength: 60 },
);

/** Applies a change to tables directly, as a fold does. */
function applyTo(tables: IdentityTables, [kind, person, serial]: Step): void {
  if (kind === 'mint') putHashedMint(tables, createMint(person, serial));
  else if (kind === 'use') putHashedUse(tables, createUse(person, serial));
  else removeIdentity(tables, application, Buffer.from(formatDigest(person), 'hex'));
}

function createEnvelope([kind, person, serial]: Step): Parameters<UnfoldedPeople['add']>[0] {
  return {
    mints: kind === 'mint' ? [createMint(person, serial)] : [],
    uses: kind === 'use' ? [createUse(person, serial)] : [],
    forgotten: kind === 'forget' ? [{ application, environments: [], digest: formatDigest(person) }] : [],
  };
}

describe('UnfoldedPeople', () => {
  test('UnfoldedPeople finds the same people as a store with every change, with or without folds', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const base = openTables();
        const expected = openTables();
        const people = new UnfoldedPeople(base);
        const unfolded: Step[] = [];
        let fold: { readonly due: Step[]; readonly end: () => void } | undefined;
        for (const step of sequence) {
          const [kind, person, serial] = step;
          if (kind === 'begin') fold ??= { due: unfolded.splice(0), end: people.beginFold() };
          else if (kind === 'fold' || kind === 'end') {
            const count = kind === 'end' ? Number.POSITIVE_INFINITY : 1 + serial;
            for (const each of fold?.due.splice(0, count) ?? []) applyTo(base, each);
            if (kind === 'fold') continue;
            fold?.end();
            fold = undefined;
          } else if (kind === 'read') {
            const id = formatId(person, serial);
            expect(findInstance(people, application, id)).toEqual(findInstance(expected, application, id));
          } else {
            people.add(createEnvelope(step));
            applyTo(expected, step);
            unfolded.push(step);
          }
        }
        for (const person of [0, 1, 2])
          for (const serial of [0, 1, 2, 3, 4, 5]) {
            const id = formatId(person, serial);
            expect(findInstance(people, application, id)).toEqual(findInstance(expected, application, id));
          }
      }),
      { numRuns: 300 },
    );
  });

  test('the record of a person is not read when an id is minted, but only when the id is looked up', () => {
    const base = openTables();
    const people = new UnfoldedPeople(base);
    people.add(createEnvelope(['mint', 1, 1]));
    expect(base.reads()).toBe(0);
    expect(findInstance(people, application, formatId(1, 1))).toMatchObject({ expiresAt: 1001, replaced: false });
    expect(base.reads()).toBe(1);
  });
});
