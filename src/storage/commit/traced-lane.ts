import { asPart, currentSpan } from '../../runtime/spans.ts';
import type { Lane } from './lane.ts';

/** A lane that adds the wait for its commits to the trace of a request, if the request is traced. */
export function tracedLane(lane: Lane): Pick<Lane, 'submit' | 'addBefore' | 'settled'> {
  const span = currentSpan();
  if (span === undefined) return lane;
  return {
    submit: (...packet) => asPart(span, 'wait for commit', () => lane.submit(...packet)),
    addBefore: (...part) => asPart(span, 'wait for commit', () => lane.addBefore(...part)),
    settled: () => lane.settled(),
  };
}
