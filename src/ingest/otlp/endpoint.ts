import type { Group } from '../../http/endpoint.ts';
import { Pipeline } from '../pipeline.ts';
import { type OtlpDeps, otlpHandler } from './handler.ts';
import type { Signal } from './request.ts';

const signals: readonly Signal[] = ['logs', 'metrics', 'traces'];

/** `/v1/logs`, `/v1/metrics` and `/v1/traces` of OTLP/HTTP. For servers: no answer has CORS headers. */
export const otlp: Group<OtlpDeps> = {
  tag: 'OpenTelemetry',
  description: 'Flag evaluations in the telemetry of OpenTelemetry.',
  endpoints: signals.map((signal) => ({
    method: 'POST',
    path: `/v1/${signal}`,
    noOptions: true,
    access: {
      credential: 'Any application key in `Authorization` or `x-api-key`',
      who: 'Servers and collectors of the application',
    },
    bind(deps) {
      const requests = new Pipeline(deps, otlpHandler(deps, signal));
      return (request) => requests.receive(request);
    },
  })),
};
