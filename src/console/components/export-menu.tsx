import { readBody, send } from '../api/client.ts';
import { downloadCsv } from './download.ts';
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

/** Saves the CSV file that the API returns. @param path with `format=csv` */
export async function downloadFrom(name: string, path: string): Promise<void> {
  const response = await send('GET', path);
  if (!response.ok) await readBody(response);
  downloadCsv(name, await response.text());
}
