import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import type { RefusalDescription } from '../../src/contract/ledger-refusals.ts';
import { ledgerNotes } from '../../src/contract/notes.ts';
import { refusals } from '../../src/contract/refusals.ts';
import { problem } from '../../src/http/responses.ts';
import { checkPacket } from '../../src/ingest/formats/telemetry/packet.ts';
import { withTable } from '../support/written-table.ts';

const path = join(import.meta.dirname, '../../docs/errors.md');
const text = readFileSync(path, 'utf8');

const byStatus = ([, a]: [string, RefusalDescription], [, b]: [string, RefusalDescription]) => a.status - b.status;

it('docs/errors.md has the refusals and notes of the contract', async () => {
  const codes = Object.entries(refusals)
    .toSorted(byStatus)
    .map(([code, { status, title, remedy }]) => [...[`\`${code}\``, status, title, remedy]]);
  const notes = Object.entries(ledgerNotes).map(([code, { meaning, remedy }]) => [...[`\`${code}\``, meaning, remedy]]);
  const withCodes = withTable(text, ['Code', 'Status', 'Title', 'What to do'], codes);
  const document = withTable(withCodes, ['Code', 'Meaning', 'What to do'], notes);
  await expect(document).toMatchFileSnapshot(path);
});

it('a response with a renamed error code also contains the former code', () => {
  const { body } = problem(new Refusal('postgres_unavailable', 'PostgreSQL is not available'));
  expect(JSON.parse(String(body))).toMatchObject({ code: 'postgres_unavailable', formerCode: 'engine_unavailable' });
});

it('docs/errors.md shows a real response of the service', () => {
  const packet = { k: 'key' };
  const sample = JSON.parse(/```json\n(.*?)```/s.exec(text)?.[1] ?? '');
  expect(() => checkPacket(packet)).toThrow(sample.detail);
  const refusal = new Refusal(sample.code, sample.detail);
  expect(sample).toEqual(JSON.parse(String(problem(refusal).body)));
});
