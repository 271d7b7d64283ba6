/** What is being loaded: a whole page, a chart, a table, or the lines of a form. */
type SkeletonKind = 'page' | 'chart' | 'table' | 'lines';

const blocks: Readonly<Record<SkeletonKind, readonly string[]>> = {
  page: ['title', 'chart', ...Array<string>(6).fill('row')],
  chart: ['chart'],
  table: Array<string>(6).fill('row'),
  lines: Array<string>(4).fill('line'),
};

/** Reserves the place of something until it has been read. */
export function Skeleton({ kind }: { readonly kind: SkeletonKind }) {
  return (
    <div class="skeleton" aria-busy="true">
      <p class="hidden" role="status">
        Loading …
      </p>
      {blocks[kind].map((block, index) => (
        <div key={index} class={`skeleton-${block}`} aria-hidden="true" />
      ))}
    </div>
  );
}
