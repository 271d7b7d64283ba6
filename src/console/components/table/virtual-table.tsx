import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { printing } from '../../styles/printing.ts';
import type { Sort } from './sort.ts';
import { ariaSort, type Column, SortButton } from './table.tsx';
import { computeView, drawn, moveTo, type View } from './window.ts';

interface VirtualTableProps<Row> {
  readonly caption: string;
  /** The first column with a value names the row. Its cell has the link that opens the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly onView?: (rows: readonly Row[]) => void;
  /** The keys of the selected rows, if the first column has checkboxes. */
  readonly selected?: ReadonlySet<string> | undefined;
  /** CSS class of the grid. Its property `--row-height` is the height of a `.vrow`. */
  readonly class: string;
}

/**
 * A table of thousands of rows. Renders only the visible rows on screen, and all rows on paper. The page scrolls the
 * table. Arrow keys move the focus, Enter or a click opens a row, and the space bar selects it.
 */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { caption, columns, rows, rowKey, sort, onSort, onView, selected } = props;
  const body = useRef<HTMLDivElement>(null);
  const { view, rowHeight } = useView(body, rows.length);
  const focus = useRowFocus(body, rows, rowKey, rowHeight);
  const inView = rows.slice(view.first, view.end);
  const shown = printing.value ? { first: 0, end: rows.length } : view;
  useLayoutEffect(() => nameCutCells(body.current));
  useEffect(() => {
    const onResize = () => nameCutCells(body.current);
    window.addEventListener('resize', onResize);
    return () => window.removeEventListener('resize', onResize);
  }, []);
  useEffect(() => onView?.(inView), [inView.map(rowKey).join('\n')]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot position its rows
    <div
      role="grid"
      class={`vtable ${props.class}${selected === undefined ? '' : ' vselectable'}`}
      aria-label={caption}
      aria-rowcount={rows.length + 1}
      aria-multiselectable={selected !== undefined}
      style={{ '--columns': formatTracks(columns) }}
    >
      {/* biome-ignore-start lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: the rows have the focus */}
      <Head columns={columns} sort={sort} onSort={onSort} />
      <div
        ref={body}
        role="rowgroup"
        class="vbody"
        {...(printing.value ? {} : { style: { height: `${rows.length * rowHeight}px` } })}
        onKeyDown={focus.onKeyDown}
        onClick={openRow}
        onAuxClick={openRow}
        onMouseDown={holdMiddle}
        onFocusIn={focus.onFocusIn}
      >
        {drawn(shown, focus.active, rows.length).map((index) => (
          <Row
            key={rowKey(rows[index]!)}
            row={rows[index]!}
            columns={columns}
            isSelected={selected?.has(rowKey(rows[index]!))}
            index={index}
            active={index === focus.active}
            top={printing.value ? undefined : index * rowHeight}
          />
        ))}
      </div>
      {/* biome-ignore-end lint/a11y/useFocusableInteractive: as above */}
      {/* biome-ignore-end lint/a11y/useSemanticElements: as above */}
    </div>
  );
}

function Head<Row>({ columns, sort, onSort }: Pick<VirtualTableProps<Row>, 'columns' | 'sort' | 'onSort'>) {
  return (
    // biome-ignore-start lint/a11y/useSemanticElements: as above
    // biome-ignore-start lint/a11y/useFocusableInteractive: the buttons have the focus
    <div role="rowgroup">
      <div role="row" class="vrow vhead" aria-rowindex={1}>
        {columns.map((column) => (
          <div key={column.key} role="columnheader" class={cellClass(column)} aria-sort={ariaSort(column.key, sort)}>
            {column.value ? <SortButton column={column} sort={sort} onSort={onSort} /> : (column.head ?? column.title)}
          </div>
        ))}
      </div>
    </div>
    // biome-ignore-end lint/a11y/useFocusableInteractive: as above
    // biome-ignore-end lint/a11y/useSemanticElements: as above
  );
}

interface RowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly isSelected: boolean | undefined;
  readonly index: number;
  readonly active: boolean;
  /** Position of the row, px; `undefined` on paper, where rows are in the normal flow. */
  readonly top: number | undefined;
}

function Row<Row>({ row, columns, isSelected, index, active, top }: RowProps<Row>) {
  const naming = columns.find(({ value }) => value !== undefined);
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <div
      role="row"
      class="vrow"
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={active ? 0 : -1}
      {...(top === undefined ? {} : { style: { transform: `translateY(${top}px)` } })}
    >
      {columns.map((column) => (
        <div key={column.key} role={column === naming ? 'rowheader' : 'gridcell'} class={cellClass(column)}>
          {column.cell ? column.cell(row) : column.value?.(row)}
        </div>
      ))}
    </div>
  );
}

/** Adds a tooltip with the whole text to each cell whose text does not fit. */
function nameCutCells(body: HTMLElement | null): void {
  for (const cell of body?.querySelectorAll<HTMLElement>('.vcell') ?? []) {
    if (cell.scrollWidth > cell.clientWidth) cell.title = cell.textContent ?? '';
    else cell.removeAttribute('title');
  }
}

function formatTracks<Row>(columns: readonly Column<Row>[]): string {
  return columns.map(({ width = 'minmax(5rem, 1fr)' }) => width).join(' ');
}

type Body = { readonly current: HTMLDivElement | null };

function useView(body: Body, count: number): { view: View; rowHeight: number } {
  const rowHeight = useSignal(40);
  const view = useSignal<View>({ first: 0, end: 0 });
  const look = () => {
    if (body.current === null) return;
    const height = Number.parseFloat(getComputedStyle(body.current).getPropertyValue('--row-height'));
    rowHeight.value = height || 40;
    const { top } = body.current.getBoundingClientRect();
    const next = computeView(top, window.innerHeight, rowHeight.value, count);
    const { first, end } = view.value;
    if (next.first !== first || next.end !== end) view.value = next;
  };
  useLayoutEffect(look);
  useEffect(() => {
    const options = { passive: true } as const;
    window.addEventListener('scroll', look, options);
    window.addEventListener('resize', look, options);
    return () => {
      window.removeEventListener('scroll', look);
      window.removeEventListener('resize', look);
    };
  }, [count]);
  return { view: view.value, rowHeight: rowHeight.value };
}

/** Keeps one row in the tab order. The row is identified by its key, so it stays active when the order changes. */
function useRowFocus<Row>(body: Body, rows: readonly Row[], rowKey: (row: Row) => string, rowHeight: number) {
  const activeKey = useSignal<string | undefined>(undefined);
  const wanted = useRef(false);
  const found = activeKey.value === undefined ? 0 : rows.findIndex((row) => rowKey(row) === activeKey.value);
  const active = rows.length === 0 ? -1 : Math.max(0, found);
  const rowAt = (index: number) => body.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
  // An element loses the focus when it moves in the document. The code below restores the focus.
  const had = body.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (!wanted.current && (!had || body.current?.contains(document.activeElement))) return;
    wanted.current = false;
    rowAt(active)?.focus({ preventScroll: true });
  });

  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && event.target instanceof HTMLElement && event.target.role === 'row') {
      event.target.querySelector('a')?.click();
      return;
    }
    if (event.key === ' ' && event.target instanceof HTMLElement && event.target.role === 'row') {
      event.preventDefault();
      const box = event.target.querySelector('input');
      box?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: event.shiftKey }));
      return;
    }
    const page = Math.max(1, Math.floor(window.innerHeight / rowHeight) - 3);
    const next = moveTo(event.key, active, rows.length, page);
    if (next === undefined) return;
    event.preventDefault();
    wanted.current = true;
    activeKey.value = rowKey(rows[next]!);
    showRow(body.current!, next * rowHeight, rowHeight);
    rowAt(next)?.focus({ preventScroll: true });
  }

  function onFocusIn({ target }: FocusEvent) {
    const index = Number((target as Element).closest('[data-index]')?.getAttribute('data-index'));
    const row = rows[index];
    if (row !== undefined) activeKey.value = rowKey(row);
  }

  return { active, onKeyDown, onFocusIn };
}

/** Scrolls a row into view, below the head of the table. */
function showRow(body: HTMLElement, offset: number, rowHeight: number): void {
  const top = body.getBoundingClientRect().top + offset;
  const head = (body.previousElementSibling?.getBoundingClientRect().height ?? 0) + 4;
  if (top < head) window.scrollBy(0, top - head);
  else if (top + rowHeight > window.innerHeight) window.scrollBy(0, top + rowHeight - window.innerHeight + 8);
}

function cellClass<Row>({ key, number, class: own }: Column<Row>): string {
  return ['vcell', `vcell-${key}`, number ? 'number' : '', own ?? ''].filter(Boolean).join(' ');
}

const controls = 'a, button, input, select, label, summary';

/** Opens the link of a clicked row. With Ctrl or the middle button, opens a new tab, as the link itself does. */
function openRow(event: MouseEvent): void {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  const row = (target as Element).closest('[role=row]');
  const link = row?.querySelector('a');
  if (!row || !link || isOnControl(event) || isSelecting(row)) return;
  if (button === 1 || (button === 0 && (ctrlKey || metaKey))) window.open(link.href, '_blank', 'noopener');
  else if (button === 0 && !shiftKey && !altKey) link.click();
}

/** Prevents scrolling with the middle button, which opens the row instead. */
function holdMiddle(event: MouseEvent): void {
  if (event.button === 1 && !isOnControl(event)) event.preventDefault();
}

function isOnControl({ target }: Event): boolean {
  return (target as Element).closest(controls) !== null;
}

/** True if the click ended a selection of text. Such a click does not open the row. */
function isSelecting(row: Element): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
}
