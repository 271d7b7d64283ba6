/** Paths of a sparkline in the viewBox `0 0 100 24`. */
interface Spark {
  readonly path: string;
  /** Dashed path from the last complete bucket to the incomplete bucket; empty if all buckets are complete. */
  readonly soFar: string;
}

const width = 100;
const height = 24;
const margin = 2;

/**
 * Draws values on an axis that begins at 0, or at the smallest negative value.
 * @param unfinished true if the last bucket is incomplete
 */
export function drawSpark(values: readonly number[], unfinished: boolean): Spark {
  const min = Math.min(0, ...values);
  const max = Math.max(0, ...values);
  const scale = max === min ? 0 : (height - 2 * margin) / (max - min);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const points = values.map(
    (value, index) => `${round(index * step)} ${round(height - margin - (value - min) * scale)}`,
  );
  const finished = unfinished ? points.slice(0, -1) : points;
  return {
    path: finished.length > 0 ? `M${finished.join('L')}` : '',
    soFar: unfinished && points.length > 1 ? `M${points.slice(-2).join('L')}` : '',
  };
}

/** A trend without an axis. It is hidden from screen readers, which read the adjacent figures. */
export function Sparkline({ values, unfinished = false }: { values: readonly number[]; unfinished?: boolean }) {
  const { path, soFar } = drawSpark(values, unfinished);
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
      <path d={soFar} class="spark-so-far" />
    </svg>
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
