import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { moveAmong, usePopover } from '../components/menu.tsx';

interface Choice {
  readonly key: string;
  readonly label: string;
  readonly href: string;
}

interface SwitcherProps {
  readonly title: string;
  readonly current: string | undefined;
  readonly choices: readonly Choice[];
}

const maxWithoutSearch = 8;

export function Switcher({ title, current, choices }: SwitcherProps) {
  const { open, box, button, toggle, close } = usePopover();
  const id = useId();
  const label = choices.find(({ key }) => key === current)?.label;
  return (
    <div ref={box} class="menu switcher">
      <button
        ref={button}
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label === undefined ? `${title}: choose one` : `${title}: ${label}`}
        onClick={toggle}
      >
        <span class="switcher-label" title={label ?? title}>
          {label ?? title}
        </span>
        <span class="caret" aria-hidden="true" />
      </button>
      {open && <Choices id={id} title={title} current={current} choices={choices} close={close} />}
    </div>
  );
}

interface ChoicesProps extends SwitcherProps {
  readonly id: string;
  readonly close: () => void;
}

function Choices({ id, title, current, choices, close }: ChoicesProps) {
  const search = useSignal('');
  const list = useRef<HTMLDivElement>(null);
  const searchable = choices.length > maxWithoutSearch;
  const words = search.value.trim().toLowerCase();
  const found = choices.filter(({ label }) => label.toLowerCase().includes(words));
  useEffect(() => {
    list.current?.querySelector<HTMLElement>(searchable ? 'input' : '[aria-current], a')?.focus();
  }, []);

  function onKeyDown(event: KeyboardEvent) {
    const links = Array.from(list.current?.querySelectorAll('a') ?? []);
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && typing) links[0]?.click();
    else if (typing && event.key !== 'ArrowDown') return;
    else if (!moveAmong(links, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles the keys of the links in it
    <div ref={list} id={id} class="popover" onKeyDown={onKeyDown}>
      {searchable && (
        <input
          type="search"
          class="switcher-search"
          aria-label={`Search: ${title}`}
          placeholder="Search"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
      )}
      {found.map(({ key, label, href }) => (
        <a
          key={key}
          class="menu-item"
          href={href}
          aria-current={key === current ? 'true' : undefined}
          onClick={() => close()}
        >
          {label}
        </a>
      ))}
      {found.length === 0 && <p class="switcher-none quiet">Nothing found</p>}
    </div>
  );
}
