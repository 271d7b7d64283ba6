import { describe, expect, test } from 'vitest';
import {
  behindMs,
  expiryDays,
  healthKinds,
  healthRule,
  healthText,
  refusing,
  severities,
} from '../../src/contract/health.ts';
import { webhookEvents } from '../../src/contract/webhook-events.ts';
import { readRules } from '../support/promtool.ts';

const alerts = new Map(readRules().map((rule) => [rule.alert, rule.expr]));

describe.each(healthKinds)('%s', (kind) => {
  const { event, alert } = healthRule(kind);

  test('a health rule names a webhook event and an alert that exist', () => {
    if (event !== null) expect(webhookEvents).toHaveProperty([event]);
    if (alert !== null) expect([alert.name, alerts.get(alert.name)]).toEqual([alert.name, alert.expr]);
  });

  test('a health rule has different texts for one subject and for several subjects', () => {
    expect(healthText(kind, 1)).not.toMatch(/undefined|\d\d/);
    expect(healthText(kind, 37)).toMatch(/^37 \w/);
  });
});

test('the health rules are listed by severity', () => {
  const ranks = healthKinds.map((kind) => severities.indexOf(healthRule(kind).severity));
  expect(ranks).toEqual([...ranks].sort());
});

test('the thresholds of the health rules equal the thresholds of the alerts', () => {
  expect(alerts.get('FlagmeterSendersRefused')).toMatch(
    new RegExp(`\\[${refusing.quietMs / 3_600_000}h\\].*>= ${refusing.least}$`),
  );
  expect(alerts.get('FlagmeterReportsBehind')).toMatch(new RegExp(`> ${behindMs / 1000}$`));
  expect(webhookEvents['api-key.expiring'].when).toContain(`${Math.max(...expiryDays)} days`);
});
