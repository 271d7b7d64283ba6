const width = 96;
const height = 24;

/** The trend of some values, drawn small. The figures beside it say the same in words. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  return (
    <svg
      class="metrics-spark"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      <path d={sparkPath(values, width, height)} />
    </svg>
  );
}

/** The path of a line from the smallest value, or 0, at the bottom to the largest at the top. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  if (values.length === 0) return '';
  const min = Math.min(0, ...values);
  const max = Math.max(...values);
  const scale = max === min ? 0 : (height - 2) / (max - min);
  const step = values.length === 1 ? 0 : width / (values.length - 1);
  return values
    .map((value, index) => {
      const y = height - 1 - (value - min) * scale;
      return `${index === 0 ? 'M' : 'L'}${round(index * step)} ${round(y)}`;
    })
    .join('');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
