import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AuditExport } from '../../src/accounts/audit-export.ts';
import { auditKey, showEntry } from '../../src/accounts/audit-log.ts';
import { sweepRound } from '../../src/auth/sweep.ts';
import { createLog } from '../../src/runtime/log.ts';
import type { AuditEntry } from '../../src/storage/lmdb/records.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openFixture } from './fixture.ts';

const dayMs = 86_400_000;

type ExportFixture = Awaited<ReturnType<typeof open>>;

/** An audit log, and a directory to export it to. */
async function open() {
  const fixture = await openFixture();
  const { store } = fixture;
  for (const { key } of [...store.audit.getRange({})]) await store.audit.remove(key);
  const directory = join(temporaryDirectory(), 'audit');
  const add = async (...entries: readonly AuditEntry[]) => {
    for (const entry of entries) await store.audit.put(auditKey(entry.number), entry);
  };
  const said: { level: string; msg: string; reason?: string }[] = [];
  const log = createLog('info', (line) => void said.push(JSON.parse(line)), fixture.clock);
  return { ...fixture, directory, add, log, said };
}

function entry(number: number, at: string, name = 'ann'): AuditEntry {
  const actor = { type: 'user', id: 'u', name, address: '192.0.2.1' } as const;
  const target = { type: 'team', id: 't', name: 'Team\n"é"' };
  return { number, at: Date.parse(at), actor, action: 'team.changed', teamId: null, target };
}

function readFiles(directory: string): Record<string, unknown[]> {
  const read = (name: string) =>
    readFileSync(join(directory, name), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, read(name)]),
  );
}

async function exportOnce({ store, directory, log }: ExportFixture) {
  const audit = AuditExport.open(directory, log);
  try {
    return await audit.run(store);
  } finally {
    audit.close();
  }
}

const first = entry(1, '2026-03-01T23:59:59.999Z');
const second = entry(2, '2026-03-02T00:00:00.000Z');
const late = entry(3, '2026-03-01T23:59:58.000Z');

describe('AuditExport', () => {
  test('the audit export writes one file per day, with one line of JSON per entry', async () => {
    const fixture = await open();
    await fixture.add(first, second, late);
    expect(await exportOnce(fixture)).toBe(3);
    expect(readFiles(fixture.directory)).toEqual({
      'audit-2026-03-01.ndjson': [showEntry(first), showEntry(late)],
      'audit-2026-03-02.ndjson': [showEntry(second)],
    });
  });

  test('the audit export appends each new entry once, even after a restart of the process', async () => {
    const fixture = await open();
    const audit = AuditExport.open(fixture.directory, fixture.log);
    expect(await audit.run(fixture.store)).toBe(-1);
    await fixture.add(first);
    expect(await audit.run(fixture.store)).toBe(1);
    expect(await audit.run(fixture.store)).toBe(1);
    audit.close();
    await fixture.add(second, late);
    expect(await exportOnce(fixture)).toBe(3);
    expect(Object.values(readFiles(fixture.directory)).flat()).toHaveLength(3);
  });

  test('the audit export writes each of thousands of entries once', async () => {
    const fixture = await open();
    const at = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * 600_000).toISOString();
    await fixture.add(...Array.from({ length: 1_001 }, (_, number) => entry(number, at(number))));
    expect(await exportOnce(fixture)).toBe(1_000);
    const all = Object.values(readFiles(fixture.directory)).flat() as { id: string }[];
    expect(all.map(({ id }) => Number(id))).toEqual(Array.from({ length: 1_001 }, (_, number) => number));
  });

  const sameDay = [
    { ...late, number: 2 },
    { ...late, number: 3 },
  ];
  const [whole, torn] = sameDay.map((each) => JSON.stringify(showEntry(each)));
  test.each([
    ['a part of a line', whole!.slice(0, 20)],
    ['a part of a character', Buffer.from(whole!).subarray(0, Buffer.from(whole!).lastIndexOf('é') + 1)],
    ['a complete line', `${whole}\n`],
    ['a complete line and a part of a line', `${whole}\n${torn!.slice(0, 40)}`],
    ['a line without its line feed', `${whole}\n${torn}`],
  ])(
    'the audit export repairs a file that ends with %s after a crash, without losing or repeating entries',
    async (_, left) => {
      const fixture = await open();
      await fixture.add(first);
      await exportOnce(fixture);
      appendFileSync(join(fixture.directory, 'audit-2026-03-01.ndjson'), left);
      await fixture.add(...sameDay);
      expect(await exportOnce(fixture)).toBe(3);
      expect(readFiles(fixture.directory)).toEqual({ 'audit-2026-03-01.ndjson': [first, ...sameDay].map(showEntry) });
    },
  );

  test('the audit export loses no entry if it crashes between two files', async () => {
    const fixture = await open();
    const audit = AuditExport.open(fixture.directory, fixture.log);
    await audit.run(fixture.store);
    await fixture.add(first, second, late);
    mkdirSync(join(fixture.directory, 'audit-2026-03-02.ndjson')); // Prevents creation of the export file.
    expect(await audit.run(fixture.store)).toBe(-1);
    rmSync(join(fixture.directory, 'audit-2026-03-02.ndjson'), { recursive: true });
    expect(readFiles(fixture.directory)).toEqual({ 'audit-2026-03-01.ndjson': [showEntry(first)] });
    expect(await audit.run(fixture.store)).toBe(3);
    audit.close();
    expect(readFiles(fixture.directory)).toEqual({
      'audit-2026-03-01.ndjson': [showEntry(first), showEntry(late)],
      'audit-2026-03-02.ndjson': [showEntry(second)],
    });
  });

  test('the audit export writes the new entries of a restored store that lacks exported entries', async () => {
    const fixture = await open();
    await fixture.add(first, second);
    const audit = AuditExport.open(fixture.directory, fixture.log);
    await audit.run(fixture.store);
    const instead = entry(2, '2026-03-02T00:00:05.000Z', 'bob');
    await fixture.add(instead);
    expect(await audit.run(fixture.store)).toBe(2);
    await fixture.store.audit.remove(auditKey(2));
    expect(await audit.run(fixture.store)).toBe(1);
    const again = entry(2, '2026-03-02T00:00:09.000Z', 'eve');
    await fixture.add(again);
    expect(await audit.run(fixture.store)).toBe(2);
    audit.close();
    expect(readFiles(fixture.directory)['audit-2026-03-02.ndjson']).toEqual([second, instead, again].map(showEntry));
  });

  test('the audit export continues after retention has removed all exported entries', async () => {
    const fixture = await open();
    await fixture.add(first);
    const audit = AuditExport.open(fixture.directory, fixture.log);
    await audit.run(fixture.store);
    await fixture.store.audit.remove(auditKey(1));
    expect(await audit.run(fixture.store)).toBe(1);
    await fixture.add(second);
    expect(await audit.run(fixture.store)).toBe(2);
    audit.close();
    expect(Object.values(readFiles(fixture.directory)).flat()).toHaveLength(2);
  });

  test('the audit export locks its directory, and an error reports the process that holds the lock', async () => {
    const fixture = await open();
    const audit = AuditExport.open(fixture.directory, fixture.log);
    expect(() => AuditExport.open(fixture.directory, fixture.log)).toThrow(
      new RegExp(`^Cannot use --audit-export ${fixture.directory}: process \\d+ is using it$`),
    );
    audit.close();
    AuditExport.open(fixture.directory, fixture.log).close();
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(() => AuditExport.open(file, fixture.log)).toThrow(
      `Cannot use --audit-export ${file}: it is not a directory`,
    );
  });

  test('the audit export creates files that only their owner can read', async () => {
    const fixture = await open();
    await fixture.add(first);
    await exportOnce(fixture);
    const { mode } = statSync(join(fixture.directory, 'audit-2026-03-01.ndjson'));
    expect((mode & 0o777).toString(8)).toBe('600');
  });
});

describe('retention', () => {
  /** Runs retention at a time when all entries are too old. Returns the numbers of the remaining entries. */
  async function sweep(
    { store, accountStore, clock }: ExportFixture,
    exportAudit: (() => Promise<number>) | undefined,
  ): Promise<readonly number[]> {
    const pause = async () => true;
    const failed = (error: unknown) => {
      throw error;
    };
    clock.advance(3650 * dayMs);
    await sweepRound({ accounts: store, accountStore, clock, auditMs: 400 * dayMs, exportAudit, pause, failed });
    return [...store.audit.getRange({})].map(({ value }) => value.number);
  }

  test('retention removes an audit entry only after its export', async () => {
    const fixture = await open();
    await fixture.add(first, second, late);
    const audit = AuditExport.open(fixture.directory, fixture.log);
    const left = await sweep(fixture, () => audit.run(fixture.store));
    audit.close();
    expect(left).toEqual([]);
    expect(Object.values(readFiles(fixture.directory)).flat()).toHaveLength(3);
  });

  test('retention keeps audit entries that were added during the export', async () => {
    const fixture = await open();
    await fixture.add(first, second);
    const left = await sweep(fixture, async () => 1);
    expect(left).toEqual([2]);
  });

  test('retention removes nothing while the export fails, and the failure is logged once', async () => {
    const fixture = await open();
    await fixture.add(first);
    const audit = AuditExport.open(fixture.directory, fixture.log);
    const inTheWay = join(fixture.directory, 'audit-2026-03-01.ndjson');
    mkdirSync(inTheWay); // Prevents creation of the export file.
    for (let round = 0; round < 2; round += 1)
      expect(await sweep(fixture, () => audit.run(fixture.store))).toEqual([1]);
    expect(audit.counts).toEqual({ made: 0, failed: 2 });
    rmSync(inTheWay, { recursive: true });
    expect(await sweep(fixture, () => audit.run(fixture.store))).toEqual([]);
    audit.close();
    expect(audit.counts).toEqual({ made: 1, failed: 2 });
    expect(fixture.said).toMatchObject([
      { level: 'warn', msg: 'exporting the audit log failed', reason: expect.stringMatching(/EISDIR/) },
      { level: 'info', msg: 'exporting the audit log succeeds again' },
    ]);
  });

  test('retention removes old audit entries if no export is configured', async () => {
    const fixture = await open();
    await fixture.add(first);
    expect(await sweep(fixture, undefined)).toEqual([]);
  });
});
