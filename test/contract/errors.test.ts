import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ApiError, catalogue, type ErrorCode } from '../../src/contract/errors.ts';
import { problem } from '../../src/http/problem.ts';
import { ledgerNotes } from '../../src/ingest/ledger/notes.ts';
import { checkPacket } from '../../src/ingest/telemetry/packet.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');

/** The rows of the table: code, status and title. */
function documented(): string[][] {
  return [...text.matchAll(/^\| `(\w+)` \| (\d+) \| ([^|]+) \|/gm)].map((row) => row.slice(1));
}

describe('the catalogue of errors', () => {
  it('is the table of docs/errors.md, in the same order', () => {
    const rows = Object.entries(catalogue).map(([code, { status, title }]) => [code, String(status), title]);
    expect(documented()).toEqual(rows);
  });

  it('has the notes of the ledger beside it, in the same order', () => {
    const [, notes = ''] = text.split('## What is noted');
    const rows = [...notes.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map((row) => row.slice(1));
    expect(rows).toEqual(Object.entries(ledgerNotes));
  });

  it('is shown with an answer that the service really gives', () => {
    const packet = { k: 'key' };
    const sample = JSON.parse(/```json\n(.*?)```/s.exec(text)?.[1] ?? '');
    expect(() => checkPacket(packet)).toThrow(sample.detail);
    const refusal = new ApiError(sample.code, sample.detail);
    expect(sample).toEqual(JSON.parse(String(problem(refusal).body)));
  });

  it('is sorted by status', () => {
    const statuses = Object.values(catalogue).map(({ status }) => status);
    expect(statuses).toEqual(statuses.toSorted((a, b) => a - b));
  });

  it.each(Object.keys(catalogue) as ErrorCode[])('gives the refusal %s its status', (code) => {
    const refusal = new ApiError(code, 'why', 3);
    expect(refusal).toMatchObject({ code, status: catalogue[code].status, message: 'why', retryAfter: 3 });
  });
});
