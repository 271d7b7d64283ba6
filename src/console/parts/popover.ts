import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** An element that a button opens below itself. A click elsewhere closes it; `close` returns the focus to the button. */
export function usePopover() {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  function close(returnFocus = true): void {
    open.value = false;
    if (returnFocus) button.current?.focus();
  }

  useEffect(() => {
    if (!open.value) return undefined;
    const stopping = new AbortController();
    const { signal } = stopping;
    const elsewhere = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) close(false);
    };
    document.addEventListener('pointerdown', elsewhere, { signal });
    document.addEventListener('focusin', elsewhere, { signal });
    return () => stopping.abort();
  }, [open.value]);

  return {
    open: open.value,
    box,
    button,
    toggle: () => (open.value = !open.value),
    show: () => (open.value = true),
    close,
  };
}

/** Moves the focus within a list by a key. @returns whether the key has a meaning here */
export function moveAmong(items: readonly HTMLElement[], key: string): boolean {
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = new Map([
    ['ArrowDown', (at + 1) % items.length],
    ['ArrowUp', at <= 0 ? items.length - 1 : at - 1],
    ['Home', 0],
    ['End', items.length - 1],
  ]).get(key);
  if (next === undefined || items.length === 0) return false;
  items[next]!.focus();
  return true;
}
