/**
 * Focuses the element that had the focus before, or the page if that is gone, such as a deleted row. Does nothing while something has
 * the focus.
 */
export function restoreFocus(before: Element | null): void {
  for (const next of [before, document.getElementById('main')])
    if (document.activeElement === document.body && next instanceof HTMLElement)
      next.focus({ preventScroll: true });
}
