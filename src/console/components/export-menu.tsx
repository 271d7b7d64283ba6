import { Menu } from './menu.tsx';

interface ExportMenuProps {
  /** Name of the table or chart, for screen readers. */
  readonly of: string;
  readonly items: readonly { readonly label: string; readonly onSelect: () => void }[];
}

/** The ways to save or share a table or chart. */
export function ExportMenu({ of, items }: ExportMenuProps) {
  return <Menu class="export" label="Export" title={`Export: ${of}`} items={items} end />;
}
