import { formatExperimentState } from '../../contract/experiment-state.ts';
import type { Experiment } from '../../contract/shapes/experiment.ts';

/** The state or the result of an experiment, the same wherever the experiment is mentioned. */
export function ExperimentState({
  experiment,
}: {
  readonly experiment: Pick<Experiment, 'state' | 'outcome' | 'decision'>;
}) {
  const isOpen = experiment.outcome === null || experiment.decision === 'ship';
  return <span class={isOpen ? 'pill' : 'pill warn'}>{formatExperimentState(experiment)}</span>;
}
