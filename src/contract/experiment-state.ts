/** The decisions that a final result allows. */
export const experimentDecisions = ['ship', 'wait', 'do_not_ship', 'keep_base', 'repeat'] as const;
export type ExperimentDecision = (typeof experimentDecisions)[number];

const results: Readonly<Record<string, string>> = { not_enough: 'not enough data', untrustworthy: 'not trustworthy' };

const advice: Readonly<Record<ExperimentDecision, string>> = {
  ship: ': ship',
  wait: ': do not ship yet',
  do_not_ship: ': do not ship',
  keep_base: '',
  repeat: '',
};

interface ExperimentState {
  readonly state: string;
  readonly outcome: string | null;
  readonly decision: ExperimentDecision | null;
}

/** Returns the label of an experiment, the same wherever it is mentioned: `running`, `better: do not ship yet`. */
export function formatExperimentState({ state, outcome, decision }: ExperimentState): string {
  if (outcome === null || decision === null) return state === 'stopped' ? 'stopped early' : state;
  return `${results[outcome] ?? outcome}${advice[decision]}`;
}
