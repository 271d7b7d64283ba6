import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { AuditExport } from '../../src/accounts/audit-export.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { sweepRound } from '../../src/auth/sweep.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type Fixture, fixtureOn } from './fixture.ts';
import { newDatabase, openNode, sharedServer } from './store/postgres-fixture.ts';

const { describe, test } = needing('postgresql');
const dayMs = 86_400_000;

/** A node with its own export directory. */
interface ExportFixture extends Fixture {
  readonly audit: string;
}

async function twoNodes(): Promise<readonly [ExportFixture, ExportFixture]> {
  const url = await newDatabase(await sharedServer());
  const one = await fixtureOn({ data: '', ...openNode(url) });
  const other = await fixtureOn({ data: '', ...openNode(url) });
  return [
    { ...one, audit: temporaryDirectory() },
    { ...other, audit: temporaryDirectory() },
  ];
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Adds audit log entries at both nodes concurrently. */
async function makeEntries(nodes: readonly Fixture[], each: number): Promise<void> {
  const make = async ({ directory }: Fixture, node: number) => {
    for (let team = 0; team < each; team += 1)
      await createTeam(directory, `Team ${node}-${team}-${directory.clock.now()}`);
  };
  await Promise.all(nodes.map(make));
}

/** Returns the numbers of all entries in PostgreSQL, as a node sees them now. */
async function numbersIn({ store, accountStore }: Fixture): Promise<readonly number[]> {
  await accountStore.current();
  store.audit.resetReadTxn();
  return Array.from(store.audit.getRange({}), ({ value }) => value.number);
}

/** Reads the numbers of the entries in the files of a node, in the order of their lines. */
function readNumbers({ audit }: ExportFixture): readonly number[] {
  const files = readdirSync(audit).filter((name) => name.endsWith('.ndjson'));
  const lines = files.flatMap((name) => readFileSync(join(audit, name), 'utf8').split('\n').slice(0, -1));
  return lines.map((line) => Number(JSON.parse(line).id)).sort((a, b) => a - b);
}

/** Runs one maintenance round of a node, as a new process would. */
async function sweep(node: ExportFixture, exporting = (audit: AuditExport) => audit.run(node.store)) {
  const { store: accounts, accountStore, clock } = node;
  const audit = AuditExport.open(node.audit, quiet);
  const failed = (error: unknown) => {
    throw error;
  };
  try {
    await accountStore.current();
    accounts.audit.resetReadTxn();
    const pause = async () => true;
    const exportAudit = () => exporting(audit);
    await sweepRound({ accounts, accountStore, clock, auditMs: 400 * dayMs, exportAudit, pause, failed });
  } finally {
    audit.close();
  }
}

describe('the audit log of two nodes', () => {
  test('each node exports every audit entry once, and then removes the entries', async () => {
    const [one, other] = await twoNodes();
    await makeEntries([one, other], 20);
    const all = await numbersIn(one);
    expect(all.length).toBeGreaterThanOrEqual(40);
    for (const node of [one, other, one]) await sweep(node);
    expect([readNumbers(one), readNumbers(other), await numbersIn(other)]).toEqual([all, all, all]);
    for (const { clock } of [one, other]) clock.advance(401 * dayMs);
    await Promise.all([sweep(one), sweep(other)]);
    expect([readNumbers(one), readNumbers(other)]).toEqual([all, all]);
    for (const node of [one, other]) expect(await numbersIn(node)).toEqual([]);
  });

  test('no audit entry is lost if a node dies during its export', async () => {
    const [one, other] = await twoNodes();
    await makeEntries([one, other], 150);
    const all = await numbersIn(one);
    for (const { clock } of [one, other]) clock.advance(401 * dayMs);
    // The node dies with some entries in its file, and a part of the next line.
    const dying = {
      audit: {
        get: one.store.audit.get.bind(one.store.audit),
        getRange: (range: { start?: string; limit?: number; reverse?: boolean }) =>
          one.store.audit.getRange(
            range.reverse ? range : { ...range, limit: range.start === '0000000000000000' ? 200 : 0 },
          ),
      },
    };
    await sweep(one, async (audit) => {
      await audit.run(dying as never);
      return -1;
    });
    const before = readNumbers(one);
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(all.length);
    appendFileSync(join(one.audit, readdirSync(one.audit).find((name) => name.endsWith('.ndjson'))!), '{"id":"2');
    expect(await numbersIn(other)).toEqual(all);
    await sweep(other);
    expect(readNumbers(other)).toEqual(all);
    expect(await numbersIn(other)).toEqual([]);
    // The node restarts, and continues with the remaining entries.
    await makeEntries([one, other], 5);
    const later = await numbersIn(one);
    for (const node of [one, other]) await sweep(node);
    expect(readNumbers(one)).toEqual([...before, ...later]);
    expect(readNumbers(other)).toEqual([...all, ...later]);
  });
});
