import { expect, test } from 'vitest';
import { checksOnlyText, listChecksOnly } from '../../src/contract/message-routes.ts';

test.each([
  [[], []],
  [['usage'], []],
  [['metrics'], []],
  [['unleash', 'unleash'], ['Unleash']],
  [
    ['unleash', 'otlp'],
    ['OpenTelemetry', 'Unleash'],
  ],
  [['otlp', 'metrics'], ['OpenTelemetry']],
  [['unleash', 'usage'], []],
  [['telemetry', 'otlp'], []],
])('senders of %j leave use and views unknown for the sources %j', (routes, sources) => {
  expect(listChecksOnly(routes.map((route) => ({ route })))).toEqual(sources);
});

test('the explanation names each source', () => {
  expect(checksOnlyText(['Unleash'])).toBe('Unleash does not report used or viewed.');
  expect(checksOnlyText(['OpenTelemetry', 'Unleash'])).toBe('OpenTelemetry and Unleash do not report used or viewed.');
});
