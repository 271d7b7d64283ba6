import { useSignal } from '@preact/signals';
import { announce } from '../../parts/announce.tsx';
import { copyText } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Menu } from '../../parts/menu.tsx';
import type { ChosenRange } from '../../parts/range.tsx';
import { rangeLabel, rangeQuery } from '../../range.ts';

/** Copies the address of what is on the page: with the times as they are now, or with a range that moves on. */
export function CopyLink({ range, bounds }: ChosenRange) {
  const copied = useSignal(false);
  const shown = useSignal<string | undefined>(undefined);
  async function copy(change: Readonly<Record<string, string | undefined>>) {
    const link = linkWith(change);
    if (!(await copyText(link))) {
      shown.value = link;
      return;
    }
    announce('Link copied');
    copied.value = true;
    setTimeout(() => {
      copied.value = false;
    }, 2000);
  }
  const fixed = {
    label: `These times: ${rangeLabel(bounds)}`,
    onSelect: () => void copy(rangeQuery(bounds)),
  };
  const moving =
    'preset' in range
      ? [{ label: `Always the last ${rangeLabel(range)}`, onSelect: () => void copy(rangeQuery(range)) }]
      : [];
  const close = () => {
    shown.value = undefined;
  };
  return (
    <>
      <Menu label={copied.value ? 'Copied ✓' : 'Copy link'} items={[...moving, fixed]} end />
      {shown.value !== undefined && (
        <Dialog title="Copy this link" onClose={close}>
          <input class="overview-copy" aria-label="Link" readOnly value={shown.value} onFocus={selectAll} />
          <p class="actions">
            <button type="button" onClick={close}>
              Close
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}

function selectAll({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void {
  currentTarget.select();
}

function linkWith(change: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}
