import Type from 'typebox';
import { file, url, whole } from './kinds.ts';

/** Export of usage and traces. */
export const otlp = {
  otlpEndpoint: Type.Optional({
    ...url(
      'URL of the collector for usage and traces (OTLP over HTTP), without /v1/metrics',
      'nothing is sent',
    ),
    group: 'OpenTelemetry',
  }),
  otlpHeadersFile: Type.Optional(
    file('OpenTelemetry', 'File with headers for the collector, such as its token, one NAME: VALUE per line'),
  ),
  otlpEvery: whole('OpenTelemetry', 'Interval in seconds for sending usage (0: never)', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 86_400,
    default: 60,
  }),
  otlpTraceOneIn: whole('OpenTelemetry', 'Trace one in N requests (0: none)', {
    minimum: 0,
    default: 100,
  }),
};
