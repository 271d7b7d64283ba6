import { asPart, currentSpan } from '../../runtime/spans.ts';
import type { Lane } from './lane.ts';

/** A lane whose commits are a part of the trace of a request, when that is traced. */
export function tracedLane(lane: Lane): Pick<Lane, 'submit' | 'addBefore' | 'settled'> {
  const span = currentSpan();
  if (span === undefined) return lane;
  return {
    submit: (...packet) => asPart(span, 'wait for commit', () => lane.submit(...packet)),
    addBefore: (...part) => asPart(span, 'wait for commit', () => lane.addBefore(...part)),
    settled: () => lane.settled(),
  };
}
