import { expect, expectTypeOf, test } from 'vitest';
import type { AuditAction, auditedThings } from '../../src/contract/audit.ts';
import { Refusal } from '../../src/contract/errors.ts';
import type { RefusalDescription } from '../../src/contract/ledger-refusals.ts';
import { type RefusalCode, refusals } from '../../src/contract/refusals.ts';
import type { webhookEvents } from '../../src/contract/webhook-events.ts';

/** Most of these tests fail only in `npm run lint`: `@ts-expect-error` is an error if the next line compiles. */

test.each(Object.keys(refusals) as RefusalCode[])(
  'a refusal with the code %s has the HTTP status that is declared for this code',
  (code) => {
    const refusal = new Refusal(code, 'why', 3);
    expect(refusal).toMatchObject({ code, status: refusals[code].status, message: 'why', retryAfter: 3 });
  },
);

test('a refusal with an undeclared code does not compile', () => {
  // @ts-expect-error: the contract has no such code
  const refuse = () => new Refusal('out_of_tea', 'There is no tea');
  expect(refuse().message).toBe('There is no tea');
});

test('a refusal without a remedy does not compile', () => {
  // @ts-expect-error: the remedy is missing
  const outOfTea: RefusalDescription = { status: 503, title: 'There is no tea' };
  expect(outOfTea.status).toBe(503);
});

test('an undeclared action of the audit log does not compile', () => {
  expectTypeOf<'team.created'>().toExtend<AuditAction>();
  expectTypeOf<'team.painted'>().not.toExtend<AuditAction>();
});

test('a list that lacks a kind of audited object or a webhook event does not compile', () => {
  type IncompleteTexts<Texts, Key extends keyof Texts> = Omit<Texts, Key>;
  expectTypeOf<IncompleteTexts<typeof auditedThings, 'team'>>().not.toExtend<typeof auditedThings>();
  expectTypeOf<IncompleteTexts<typeof webhookEvents, 'flag.stale'>>().not.toExtend<typeof webhookEvents>();
});
