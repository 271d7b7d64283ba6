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
])('listChecksOnly of the routes %j returns the products %j', (routes, sources) => {
  expect(listChecksOnly(routes.map((route) => ({ route })))).toEqual(sources);
});

test('the explanation of unknown uses and views names each product that does not report them', () => {
  expect(checksOnlyText(['Unleash'])).toBe('Unleash does not report used or viewed.');
  expect(checksOnlyText(['OpenTelemetry', 'Unleash'])).toBe('OpenTelemetry and Unleash do not report used or viewed.');
});
