import { expect, test } from 'vitest';
import { advice, adviceOn } from '../../src/console/pages/ingest/advice.ts';
import { catalogue } from '../../src/contract/errors.ts';
import { ledgerNotes } from '../../src/ingest/ledger/notes.ts';
import { metricsHost } from '../../src/serve/metrics-host.ts';

/** What the endpoints of the metrics host refuse with, and gRPC besides. */
const refused = new Set([
  ...metricsHost({ maxBody: 1, maxReport: 1 })
    .flatMap(({ endpoints }) => endpoints)
    .flatMap(({ operation }) => Object.keys(operation?.refuses ?? {})),
  ...['invalid_protobuf', 'message_compressed', 'deadline_exceeded', 'unsupported_media_type'],
]);
const noted = Object.keys(ledgerNotes);

test('there are as many reasons as the metrics host has', () => {
  expect(refused.size).toBeGreaterThan(20);
});

test.each([...refused, ...noted])('there is something to do about %s', (code) => {
  const { means, todo } = adviceOn(code);
  expect(Object.hasOwn(advice, code)).toBe(true);
  for (const text of [means, todo]) expect(text).toMatch(/^[A-Z].{10,}[.?]$/);
});

test('every reason is one of the service', () => {
  for (const code of Object.keys(advice))
    expect(Object.hasOwn(catalogue, code) || Object.hasOwn(ledgerNotes, code), code).toBe(true);
});

test('a reason of a newer server is named', () => {
  expect(adviceOn('moon_phase').means).toContain('moon_phase');
  expect(adviceOn('constructor').means).toContain('constructor');
});
