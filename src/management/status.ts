import { ServiceStatus, type ServiceStatusShown } from '../contract/shapes/status.ts';
import { ok } from '../http/answer.ts';
import { type Group, jsonAnswer, type Shown } from '../http/endpoint.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';

export interface StatusDeps extends ManageDeps {
  /** How the service does now. */
  status(): Shown<ServiceStatusShown>;
}

export const status: Group<StatusDeps> = {
  tag: 'Status',
  description: 'How the service does.',
  endpoints: [
    endpoint('GET /status', {
      access: { within: 'service', least: 'User' },
      operationId: 'readStatus',
      summary: 'Read how much comes in, what waits for the disk, and whether data is accepted',
      description:
        'Rates are those of the last ten seconds and of the whole service. `GET /metrics` has the same figures as counters.',
      answers: { 200: jsonAnswer(ServiceStatus, 'The status.') },
      handle: (_call, { status }: StatusDeps) => ok(status()),
    }),
  ],
};
