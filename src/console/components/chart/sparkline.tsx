/** Paths of a sparkline in the viewBox `0 0 100 24`. */
interface Spark {
  readonly path: string;
  /** Dashed path from the last complete bucket to the incomplete bucket. */
  readonly soFar: string;
}

const width = 100;
const height = 24;
const margin = 2;

/** Draws counts on an axis that begins at 0. The bucket of the last count is incomplete. */
export function drawSpark(values: readonly number[]): Spark {
  const max = Math.max(0, ...values);
  const scale = max === 0 ? 0 : (height - 2 * margin) / max;
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const points = values.map((value, index) => `${round(index * step)} ${round(height - margin - value * scale)}`);
  const finished = points.slice(0, -1);
  return {
    path: finished.length > 0 ? `M${finished.join('L')}` : '',
    soFar: points.length > 1 ? `M${points.slice(-2).join('L')}` : '',
  };
}

/** A trend without an axis. It is hidden from screen readers, which read the adjacent figures. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const { path, soFar } = drawSpark(values);
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
