import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Title of the page, such as the name of a flag; empty for the default title of the address. */
export const pageTitle = signal('');

/** Sets the title of the browser tab while a component is mounted. */
export function useTitle(title: string): void {
  useEffect(() => {
    pageTitle.value = title;
    return () => {
      pageTitle.value = '';
    };
  }, [title]);
}
