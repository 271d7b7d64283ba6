import { signal } from '@preact/signals';

export const printing = signal(false);

/** Prepares the page for printing: charts are redrawn in the width of the paper, and tables render all rows. */
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
