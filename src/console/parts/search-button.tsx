import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SearchDialogProps } from '../search/dialog.tsx';
import { announce } from './announce.tsx';

const load = () => import('../search/dialog.tsx').then(({ SearchDialog }) => SearchDialog);

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The button of the search in all applications, which Ctrl+K or Cmd+K opens. Its dialog is loaded when it is first opened. */
export function SearchButton() {
  const dialog = useSignal<{ readonly Dialog: ComponentType<SearchDialogProps> } | undefined>(undefined);
  const isOpen = useSignal(false);
  async function open() {
    try {
      dialog.value = { Dialog: await load() };
      isOpen.value = true;
    } catch {
      announce('The search could not be loaded: the server cannot be reached');
    }
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isSearch = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!isSearch || event.altKey || event.shiftKey) return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) void open();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const Dialog = dialog.value?.Dialog;
  return (
    <>
      <button type="button" class="search-button" aria-haspopup="dialog" onClick={() => void open()}>
        <span class="search-button-label">Search</span> <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {Dialog !== undefined && isOpen.value && <Dialog onClose={() => (isOpen.value = false)} />}
    </>
  );
}
