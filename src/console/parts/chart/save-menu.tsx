import { messageOf } from '../../api/problem.ts';
import { announce } from '../announce.tsx';
import { downloadCsv } from '../csv.ts';
import { Menu } from '../menu.tsx';
import { type Described, figuresCsv } from './announcement.ts';
import type { ChartKind } from './series.ts';

interface SaveMenuProps {
  readonly title: string;
  /** Name of the files. */
  readonly name: string;
  readonly of: Described;
  readonly kind: ChartKind;
}

/** Saves a chart as a table or as an image. */
export function SaveMenu({ title, name, of, kind }: SaveMenuProps) {
  async function savePng(drawn: Exclude<ChartKind, 'table'>) {
    try {
      const { savePicture } = await import('./picture.ts');
      await savePicture({ title, name, of, kind: drawn });
    } catch (error) {
      announce(messageOf(error));
    }
  }
  const saveCsv = () => {
    const { markers, ...figures } = of;
    downloadCsv(name, figuresCsv(markers.length > 0 ? of : figures));
  };
  const csv = { label: 'CSV, a table', onSelect: saveCsv };
  const png = kind === 'table' ? [] : [{ label: 'PNG, an image', onSelect: () => void savePng(kind) }];
  return <Menu label="Download" title={`Download: ${title}`} items={[csv, ...png]} end />;
}
