import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { SearchResult, SearchResults } from '../../contract/shapes/search.ts';
import { flagAddress } from '../address/address.ts';
import { type Place, placeOf } from '../address/place.ts';
import { call, resource } from '../api/client.ts';
import { root } from '../api/settings.ts';
import { applications } from '../reader/applications.tsx';
import { type Entry, sentText } from './entries.ts';

/** Pause after a key, ms. */
const typingMs = 120;
/** Pause before an incomplete search is repeated, ms. */
const againMs = 500;
const mostRepeats = 20;

/** What the server finds: flags, keys and users of all applications. */
export function useFound(text: string): { readonly entries: readonly Entry[]; readonly isComplete: boolean } {
  const { path, query } = useLocation();
  const place = placeOf(path.slice(root.length), query);
  const found = useSignal<{ readonly q: string; readonly results: SearchResults } | undefined>(undefined);
  const q = sentText(text);
  useEffect(() => {
    if (q === '') return undefined;
    const stopping = new AbortController();
    let repeats = 0;
    const search = async () => {
      try {
        const { signal } = stopping;
        const options = { query: { q, limit: 30, application: place.application }, signal };
        const results = await call<SearchResults>('GET', resource('search'), options);
        found.value = { q, results };
        repeats += 1;
        if (!results.complete && repeats < mostRepeats) timer = setTimeout(search, againMs);
      } catch {
        // The entries of the console stay; the next key repeats the search.
      }
    };
    let timer = setTimeout(search, typingMs);
    return () => {
      stopping.abort();
      clearTimeout(timer);
    };
  }, [q]);
  const { results } = found.value ?? {};
  const isCurrent = q === '' || found.value?.q === q;
  // While a key is typed, earlier results that still fit stay.
  const items = q === '' ? [] : (results?.items ?? []);
  return {
    entries: items.map((result) => entryOf(result, place, query)),
    isComplete: isCurrent && (results?.complete ?? true),
  };
}

function entryOf(
  { type, name, detail, application, link }: SearchResult,
  place: Place,
  query: Readonly<Record<string, string>>,
): Entry {
  const shown = [application?.name, detail].filter(Boolean).join(' · ');
  const environments = applications.value?.find(({ id }) => id === application?.id)?.environments ?? [];
  const environment = environments.find((each) => each.name === place.environment)?.name;
  const isHere = type === 'feature' && application?.id === place.application && environment !== undefined;
  const href = isHere ? flagAddress({ application: application!.id, environment, name }, query) : root + link;
  return { kind: type, title: name, href, ...(shown !== '' && { detail: shown }) };
}
