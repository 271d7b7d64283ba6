/** Controls in a row that have a purpose of their own. */
const controls = 'a, button, input, select, label, summary';

/** Opens the link of a row after a click anywhere in it, in a new tab with Ctrl or the middle button, as the link itself does. */
export function openRow(event: MouseEvent): void {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  const row = (target as Element).closest('[role=row]');
  const link = row?.querySelector('a');
  if (!row || !link || isOnControl(event) || isSelecting(row)) return;
  if (button === 1 || (button === 0 && (ctrlKey || metaKey))) window.open(link.href, '_blank', 'noopener');
  else if (button === 0 && !shiftKey && !altKey) link.click();
}

/** Keeps the browser from scrolling with the middle button, which opens the row. */
export function holdMiddle(event: MouseEvent): void {
  if (event.button === 1 && !isOnControl(event)) event.preventDefault();
}

function isOnControl({ target }: Event): boolean {
  return (target as Element).closest(controls) !== null;
}

/** A click that ends the selection of text opens nothing. */
function isSelecting(row: Element): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
}
