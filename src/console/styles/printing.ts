import { signal } from '@preact/signals';

export const printing = signal(false);

/** Lays the page out for paper while it is printed: charts are redrawn, and tables have all of their rows. */
export function startPrinting(): void {
  const paper = matchMedia('print');
  const set = (isPrinting: boolean) => {
    document.documentElement.toggleAttribute('data-printing', isPrinting);
    printing.value = isPrinting;
  };
  addEventListener('beforeprint', () => set(true));
  addEventListener('afterprint', () => set(paper.matches));
  paper.addEventListener('change', () => set(paper.matches));
}
