import { isName } from '../../../contract/names.ts';

/**
 * The names in OpenTelemetry's conventions for feature flags (https://opentelemetry.io/docs/specs/semconv/feature-flags), and those
 * of earlier versions, which published hooks still send.
 */

/** The value of an attribute. Lists and maps are not read. */
export type Scalar = string | number | boolean;

export type Attributes = Map<string, Scalar>;

/** The names of each attribute, latest first. */
const names = {
  feature: ['feature_flag.key', 'key'],
  variant: ['feature_flag.result.variant', 'feature_flag.variant', 'variant'],
  value: ['feature_flag.result.value'],
  reason: ['feature_flag.result.reason', 'feature_flag.evaluation.reason', 'feature_flag.reason', 'reason'],
  error: ['error.type', 'feature_flag.evaluation.error.code'],
  user: ['feature_flag.context.id'],
  event: ['event.name'],
  environment: ['deployment.environment.name', 'deployment.environment'],
  service: ['service.name'],
  version: ['service.version'],
} as const;

const known: ReadonlySet<string> = new Set(Object.values(names).flat());

/** Whether the value of an attribute is read. Most are not, and are skipped. */
export function isRead(name: string): boolean {
  return known.has(name);
}

/** The text of an attribute under the latest of its names. Empty texts count as missing. */
export function textOf(attributes: Attributes, attribute: keyof typeof names): string | undefined {
  for (const name of names[attribute]) {
    const value = attributes.get(name);
    if (value !== undefined && value !== '') return String(value);
  }
  return undefined;
}

const evaluation = 'feature_flag.evaluation';

/** Whether a log record or a span event of this name is an evaluation of a flag. */
export function isEvaluation(event: string | undefined): boolean {
  return event === evaluation || event === 'feature_flag';
}

/** Whether a span of this name is an evaluation of a flag, which its own attributes describe. */
export function isEvaluationSpan(name: unknown): boolean {
  return name === evaluation;
}

const successTotal = 'feature_flag.evaluation_success_total';
const errorTotal = 'feature_flag.evaluation_error_total';

/** Whether a metric is counted. The other metrics of the hooks count the same evaluations a second time. */
export function isCounted(metric: string): boolean {
  return metric === successTotal || metric === errorTotal;
}

export interface Evaluation {
  readonly feature: string;
  readonly variant: string;
  readonly user: string | undefined;
}

/** The variants of evaluations without one. */
const failed = '(error)';
const unnamed = '(value)';
const unknown = '(unknown)';

/** The evaluation that attributes describe; `undefined` if they name no flag. @param metric of the point, if it is one */
export function evaluationOf(attributes: Attributes, metric?: string): Evaluation | undefined {
  const feature = textOf(attributes, 'feature');
  if (feature === undefined) return undefined;
  const hasFailed =
    metric === errorTotal ||
    textOf(attributes, 'error') !== undefined ||
    textOf(attributes, 'reason')?.toLowerCase() === 'error';
  const variant = hasFailed ? failed : (textOf(attributes, 'variant') ?? variantOfValue(attributes));
  return { feature, variant, user: textOf(attributes, 'user') };
}

/** A provider without variants reports the value. A text that is not a name is counted as `(value)`. An object is not read. */
function variantOfValue(attributes: Attributes): string {
  const value = attributes.get(names.value[0]);
  if (typeof value === 'boolean') return value ? 'enabled' : 'disabled';
  if (value === undefined) return unknown;
  return isName(String(value)) ? String(value) : unnamed;
}
