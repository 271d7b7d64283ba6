import { useSignal } from '@preact/signals';
import { rangeLabel, rangeQuery } from '../../address/range.ts';
import { announce } from '../../parts/announce.tsx';
import type { ChosenRange } from '../../parts/choices/range.tsx';
import { copyText } from '../../parts/copy.tsx';
import { Dialog, useDialog } from '../../parts/dialog.tsx';
import { Menu } from '../../parts/menu.tsx';
import { format } from '../../text/format.ts';

/** Copies the address of the page, with the current times or with a relative range. */
export function CopyLink({ range, bounds }: ChosenRange) {
  const copied = useSignal(false);
  const dialog = useDialog();
  async function copy(change: Readonly<Record<string, string | undefined>>) {
    // The reader of the link may prefer another time zone.
    const link = linkWith({ ...change, tz: format.zone });
    if (!(await copyText(link))) {
      dialog.open(<LinkDialog link={link} onClose={dialog.close} />);
      return;
    }
    announce('Link copied');
    copied.value = true;
    setTimeout(() => (copied.value = false), 2000);
  }
  const fixed = {
    label: `These times: ${rangeLabel(bounds)}`,
    onSelect: () => void copy(rangeQuery(bounds)),
  };
  const label =
    'preset' in range && /\d/.test(range.preset) ? `the last ${rangeLabel(range)}` : rangeLabel(range);
  const moving =
    'from' in range
      ? []
      : [{ label: `Always ${label.toLowerCase()}`, onSelect: () => void copy(rangeQuery(range)) }];
  return (
    <>
      <Menu label={copied.value ? 'Copied ✓' : 'Copy link'} items={[...moving, fixed]} end />
      {dialog.element}
    </>
  );
}

/** For browsers without access to the clipboard. */
function LinkDialog({ link, onClose }: { readonly link: string; readonly onClose: () => void }) {
  return (
    <Dialog title="Copy this link" onClose={onClose}>
      <input
        class="overview-copy"
        aria-label="Link"
        readOnly
        value={link}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <p class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </p>
    </Dialog>
  );
}

function linkWith(change: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}
