import type { MetricDeclaration } from '../storage/lmdb/records.ts';
import { changesBetween } from './audit-log.ts';
import { mustExist } from './checks.ts';
import { checkDeclaredName, declarationKey, declarationTarget } from './declarations.ts';
import type { Directory } from './directory.ts';
import { checkPlan, planOf } from './plans.ts';

const undeclared: MetricSettings = { kind: 'counter', unit: null };

type MetricSettings = Pick<MetricDeclaration, 'kind' | 'unit'>;

/** Does nothing if it is unchanged. @throws {ApiError} `not_found` (application), `invalid_name`, `plan_limit` */
export function declareMetric(
  directory: Directory,
  applicationId: string,
  name: string,
  { kind, unit }: MetricSettings,
): Promise<MetricDeclaration> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const all = draft.metricsOf(applicationId);
    const known = all.get(name);
    if (known !== undefined && known.kind === kind && known.unit === unit) return known;
    const now = directory.clock.now();
    if (known === undefined) {
      checkDeclaredName('a metric', name);
      checkPlan(planOf(draft, application), 'metrics', all.size + 1);
    }
    const declared = known ?? { applicationId, name, number: draft.takeNumber('metric'), createdAt: now };
    const metric: MetricDeclaration = { ...declared, kind, unit, updatedAt: now };
    draft.put('metrics', declarationKey(applicationId, name), metric);
    const action = known === undefined ? 'metric.declared' : 'metric.changed';
    const changes = changesBetween(known ?? undeclared, { kind, unit });
    draft.note(action, application.teamId, declarationTarget('metric', application, name), changes);
    return metric;
  });
}

/** It is then a counter again. @throws {ApiError} `not_found` */
export function deleteMetric(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    mustExist('declared metric', draft.metricsOf(applicationId).get(name));
    draft.remove('metrics', declarationKey(applicationId, name));
    draft.note('metric.deleted', application.teamId, declarationTarget('metric', application, name));
  });
}
