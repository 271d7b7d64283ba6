import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface MenuItem {
  readonly label: ComponentChildren;
  readonly onSelect: () => void;
  /** True for the current choice; absent for an item that is an action. */
  readonly checked?: boolean;
  /** True if a line separates the item from the items above. */
  readonly apart?: boolean;
}

interface MenuProps {
  readonly label: ComponentChildren;
  /** Label for screen readers, if the visible content is not sufficient. */
  readonly title?: string;
  readonly items: readonly MenuItem[];
  readonly end?: boolean;
  readonly class?: string;
}

/** A button that opens a menu (WAI-ARIA "menu button"). */
export function Menu({ label, title, items, end, class: className }: MenuProps) {
  const { open, box, button, toggle, show, close } = usePopover();
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  // An open menu keeps its items. Otherwise, a click could hit an item that has just moved under the pointer.
  const shown = useRef(items);
  if (!open) shown.current = items;
  const elements = () => Array.from(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? []);
  useEffect(() => {
    if (!open) return;
    const all = elements();
    (all.find((item) => item.getAttribute('aria-checked') === 'true') ?? all[0])?.focus();
  }, [open]);

  function onKeyDown(event: KeyboardEvent) {
    if (!open) {
      if (event.key === 'ArrowDown') show();
      else return;
    } else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') return close();
    else if (!moveAmong(elements(), event.key) && !jump(elements(), event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div ref={box} class={`menu ${className ?? ''}`}>
      <button
        ref={button}
        id={`${id}-button`}
        type="button"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={title}
        onClick={toggle}
        onKeyDown={onKeyDown}
      >
        {label} <span class="caret" aria-hidden="true" />
      </button>
      {open && (
        <div
          ref={list}
          id={id}
          role="menu"
          class={end ? 'popover popover-end' : 'popover'}
          aria-labelledby={`${id}-button`}
          tabIndex={-1}
          onKeyDown={onKeyDown}
        >
          {shown.current.map((item, index) => (
            <Item key={index} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  );
}

function Item({ item, close }: { readonly item: MenuItem; readonly close: () => void }) {
  const { label, onSelect, checked, apart } = item;
  return (
    <button
      type="button"
      tabIndex={-1}
      {...(checked === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': checked })}
      class={`menu-item${apart ? ' apart' : ''}`}
      onClick={() => {
        close();
        onSelect();
      }}
    >
      {label}
    </button>
  );
}

function jump(items: readonly HTMLElement[], key: string): boolean {
  if (key.length !== 1) return false;
  const at = items.indexOf(document.activeElement as HTMLElement);
  const order = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  const next = order.find((item) => item.textContent?.trim().toLowerCase().startsWith(key.toLowerCase()));
  next?.focus();
  return next !== undefined;
}

/** Opens an element below its button. A click elsewhere closes the element; `close` also focuses the button. */
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

/** Moves the focus within a list when a key is pressed. @returns true if the key moves the focus */
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
