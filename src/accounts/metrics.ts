import type { MetricDeclaration } from '../storage/lmdb/records.ts';
import { changesBetween } from './audit-log.ts';
import { mustExist } from './checks.ts';
import { checkDeclaredName, declarationKey, declarationTarget } from './declarations.ts';
import type { Directory } from './directory.ts';
import { checkTierLimit, getTier } from './tiers.ts';

const undeclared: MetricSettings = { kind: 'counter', unit: null };

type MetricSettings = Pick<MetricDeclaration, 'kind' | 'unit'>;

/**
 * Declares a metric, or changes its declaration.
 * @throws {Refusal} `not_found` (application), `invalid_name`, `plan_limit`
 */
export function declareMetric(
  directory: Directory,
  applicationId: string,
  name: string,
  { kind, unit }: MetricSettings,
): Promise<MetricDeclaration> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const all = tx.getMetrics(applicationId);
    const known = all.get(name);
    if (known !== undefined && known.kind === kind && known.unit === unit) return known;
    const now = directory.clock.now();
    if (known === undefined) {
      checkDeclaredName('a metric', name);
      checkTierLimit(getTier(tx, application), 'metrics', all.size + 1);
    }
    const declared = known ?? { applicationId, name, number: tx.takeNumber('metric'), createdAt: now };
    const metric: MetricDeclaration = { ...declared, kind, unit, updatedAt: now };
    tx.put('metrics', declarationKey(applicationId, name), metric);
    const action = known === undefined ? 'metric.declared' : 'metric.changed';
    const changes = changesBetween(known ?? undeclared, { kind, unit });
    tx.note(action, application.teamId, declarationTarget('metric', application, name), changes);
    return metric;
  });
}

/** Deletes a metric's declaration. The metric then becomes a counter again. @throws {Refusal} `not_found` */
export function deleteMetric(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    mustExist('declared metric', tx.getMetrics(applicationId).get(name));
    tx.remove('metrics', declarationKey(applicationId, name));
    tx.note('metric.deleted', application.teamId, declarationTarget('metric', application, name));
  });
}
