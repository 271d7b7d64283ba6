import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Deletion } from '../../../contract/shapes/deletion.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { announce } from '../../components/announce.tsx';
import { format } from '../../text/format.ts';

/** Lists deleted objects whose data is still being removed. @param props `of`: application, to list only its objects */
export function Removals({ of }: { readonly of?: string }) {
  const everyMs = useSignal(15_000);
  const { data } = usePoll<{ items: readonly Deletion[] }>(resource('deletions'), everyMs.value);
  const pending = (data?.items ?? []).filter(({ target }) => of === undefined || target.id === of);
  const names = pending.map(({ target }) => target.name).join(', ');
  const before = useRef(names);
  useEffect(() => {
    if (names === '' && before.current !== '') announce(`Removed the data of ${before.current}`);
    before.current = names;
    everyMs.value = names === '' ? 15_000 : 1000;
  }, [names]);
  return (
    <ul class="plain-list settings-removals">
      {pending.map(({ target, requestedAt }) => (
        <li key={`${target.id} ${target.name} ${requestedAt}`}>
          Removing the data of {target.name}, deleted at {format.time(requestedAt)}.
        </li>
      ))}
    </ul>
  );
}
