import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** What the page on show is called, such as the name of a flag; empty for the name of its place. */
export const pageTitle = signal('');

/** Names the page in the browser's tab, as long as a component is there. */
export function useTitle(title: string): void {
  useEffect(() => {
    pageTitle.value = title;
    return () => {
      pageTitle.value = '';
    };
  }, [title]);
}
