import type { ServiceMetric } from '../http/exposition-text.ts';
import type { Core } from './core.ts';

/** The copies of the audit log; nothing when there are none. */
export function auditMetrics({ audit }: Pick<Core, 'audit'>): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_audit_exports_total',
      type: 'counter',
      help: 'Rounds of --audit-export, by result.',
      labels: ['result'],
      *read() {
        if (audit === undefined) return;
        yield [{ result: 'made' }, audit.counts.made];
        yield [{ result: 'failed' }, audit.counts.failed];
      },
    },
  ];
}
