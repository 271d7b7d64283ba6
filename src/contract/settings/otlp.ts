import Type from 'typebox';
import { file, url, whole } from './kinds.ts';

/** Where usage and traces are sent to. */
export const otlp = {
  otlpEndpoint: Type.Optional({
    ...url(
      'Collector that usage and traces are sent to by OTLP over HTTP: its URL without /v1/metrics',
      'nothing is sent',
    ),
    group: 'OpenTelemetry',
  }),
  otlpHeadersFile: Type.Optional(
    file('OpenTelemetry', 'File with headers for the collector, such as its token: NAME: VALUE in each line'),
  ),
  otlpEvery: whole('OpenTelemetry', 'Seconds between two times that usage is sent; 0: it is not sent', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 86_400,
    default: 60,
  }),
  otlpTraceOneIn: whole('OpenTelemetry', 'Requests of which one is traced; 0: none is', {
    minimum: 0,
    default: 100,
  }),
};
