/*
 * src/console/search: the search in all applications, loaded when it is first opened. dialog.tsx is the dialog.
 * known.ts lists the entries that the console knows and the entries that the server finds. entries.ts sorts all entries
 * by rank.
 */
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { environmentAddress } from '../address/address.ts';
import { readPlace } from '../address/place.ts';
import { root } from '../api/settings.ts';
import { Dialog } from '../components/dialog.tsx';
import { askedPerson } from '../pages/people/asked-person.ts';
import { hasRole } from '../reader/reader.tsx';
import { plural } from '../text/format.ts';
import { type Entry, findSimilar, kinds, mostShown, ranked, unique } from './entries.ts';
import { docsEntries, readDocs, recentEntries, remember, useFound, useKnownEntries, useSenders } from './known.ts';

export interface SearchDialogProps {
  readonly onClose: () => void;
}

/** A text field with a list of results (WAI-ARIA "combobox"). */
export function SearchDialog({ onClose }: SearchDialogProps) {
  const { route } = useLocation();
  const text = useSignal('');
  const active = useSignal(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const results = useEntries(text.value);
  const { entries } = results;
  const at = Math.min(active.value, entries.length - 1);
  useEffect(() => void readDocs(), []);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at]);

  function choose(entry: Entry, inNewTab: boolean) {
    remember(entry);
    if (entry.href !== undefined && inNewTab) return void window.open(entry.href, '_blank', 'noopener');
    onClose();
    if (entry.run !== undefined) entry.run();
    else if (entry.kind === 'docs') location.assign(entry.href!);
    else route(entry.href!);
  }
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) active.value = (at + step + entries.length) % entries.length;
    else if (event.key === 'Enter' && entries[at] !== undefined) choose(entries[at], event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  }
  return (
    <Dialog title="Search" onClose={onClose}>
      <SearchField
        list={`${id}-list`}
        active={entries.length > 0 ? `${id}-${at}` : undefined}
        value={text.value}
        onInput={(value) => {
          text.value = value;
          active.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={`${id}-list`} role="listbox" class="search-list" aria-label="Results">
        {entries.map((entry, index) => (
          <Option
            key={`${entry.kind} ${entry.href ?? entry.title}`}
            id={`${id}-${index}`}
            entry={entry}
            isActive={index === at}
            onChoose={(inNewTab) => choose(entry, inNewTab)}
          />
        ))}
      </div>
      <p class="quiet search-status" role="status">
        {statusText(results, text.value)}
      </p>
      <p class="quiet search-help" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> select · <kbd>Enter</kbd> open · <kbd>Ctrl Enter</kbd> new tab
      </p>
    </Dialog>
  );
}

interface SearchFieldProps {
  readonly list: string;
  /** Id of the selected result; `undefined` without results. */
  readonly active: string | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function SearchField({ list, active, value, onInput, onKeyDown }: SearchFieldProps) {
  return (
    <input
      type="text"
      role="combobox"
      class="search-field"
      aria-label="Search flags, pages, keys, senders, origins, people and settings"
      aria-expanded={active !== undefined}
      aria-controls={list}
      aria-autocomplete="list"
      aria-activedescendant={active}
      autocomplete="off"
      spellcheck={false}
      maxLength={200}
      placeholder="Flags, pages, keys, senders, origins, people, docs"
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

interface Results {
  readonly entries: readonly Entry[];
  readonly isComplete: boolean;
  /** True if no entry matches. The entries are then suggestions. */
  readonly isSuggested: boolean;
}

/**
 * Returns the entries for a text. For an empty text, returns the pages chosen last, and then the other pages. For a
 * text without a match, returns an entry with a similar name, and then the same pages.
 */
function useEntries(text: string): Results {
  const known = useKnownEntries();
  const senders = useSenders(text.trim());
  const person = usePersonEntry(text.trim());
  const { entries: found, similar, isComplete } = useFound(text);
  const usual = unique([...recentEntries(), ...known]).slice(0, mostShown);
  if (text.trim() === '') return { entries: usual, isComplete: true, isSuggested: true };
  const all = [...known, ...senders, ...found, ...docsEntries()];
  const entries = ranked(all, text).slice(0, mostShown - 1);
  if (entries.length > 0) return { entries: [...entries, ...person], isComplete, isSuggested: false };
  const suggested = similar.length > 0 ? similar : findSimilar(all, text.trim());
  return { entries: [...suggested, ...person, ...usual.slice(0, mostSuggested)], isComplete, isSuggested: true };
}

/** Number of pages that are suggested for a text without a match. */
const mostSuggested = 6;

/** Returns the search result for looking up the text as a person's identity. Addresses never contain the identity. */
function usePersonEntry(identity: string): readonly Entry[] {
  const { path, query, route } = useLocation();
  const { application, environment } = readPlace(path.slice(root.length), query);
  if (application === undefined || environment === undefined || !hasRole('User')) return [];
  const run = () => {
    askedPerson.value = identity;
    route(environmentAddress(application, environment, 'people'));
  };
  return [{ kind: 'person', title: `Look up person “${identity}”`, run }];
}

interface OptionProps {
  readonly id: string;
  readonly entry: Entry;
  readonly isActive: boolean;
  readonly onChoose: (inNewTab: boolean) => void;
}

function Option({ id, entry, isActive, onChoose }: OptionProps) {
  const { kind, title, detail, href } = entry;
  const properties = {
    id,
    role: 'option' as const,
    tabIndex: -1,
    'aria-selected': isActive,
    class: 'search-option',
    onClick: (event: MouseEvent) => {
      event.preventDefault();
      onChoose(event.ctrlKey || event.metaKey);
    },
  };
  const content = (
    <>
      <span class="search-title">{title}</span>
      {detail !== undefined && <span class="quiet search-detail">{detail}</span>}
      <span class="quiet search-kind">{kinds[kind]}</span>
    </>
  );
  return href === undefined ? (
    <button type="button" {...properties}>
      {content}
    </button>
  ) : (
    <a href={href} {...properties}>
      {content}
    </a>
  );
}

function statusText({ entries, isComplete, isSuggested }: Results, text: string): string {
  if (text.trim() === '') return '';
  if (!isSuggested) return `${plural(entries.length, 'result')}${isComplete ? '' : ', searching …'}`;
  if (!isComplete) return 'Searching …';
  const [first] = entries;
  const hint =
    first?.kind === 'similar' ? `Did you mean ${first.title}?` : 'Check the spelling, or type fewer letters.';
  return `No match for “${text.trim()}”. ${hint}`;
}
