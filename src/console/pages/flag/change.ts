import { useSignal } from '@preact/signals';
import { call, resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { messageOf } from '../../api/problem.ts';
import { announce } from '../../parts/announce.tsx';
import { type FlagPlace, flagPath } from './paths.ts';

/** Reads again what a change of a flag may have changed. */
export function reread({ application }: FlagPlace): void {
  forget(resource('applications', application, 'features'));
  forget(resource('applications', application, 'overview'));
}

/** Changes some of a flag's declaration; a flag that is not declared becomes so. @throws {ApiProblem} */
export async function changeFlag(place: FlagPlace, patch: object): Promise<void> {
  await call('PATCH', flagPath(place)!, { body: patch });
  reread(place);
}

/** Runs changes that a button makes: one at a time, with what the API has against the last one. */
export function useChange() {
  const busy = useSignal(false);
  const refusal = useSignal<string | undefined>(undefined);
  async function run(change: () => Promise<unknown>, done: string): Promise<void> {
    if (busy.value) return;
    busy.value = true;
    refusal.value = undefined;
    try {
      await change();
      announce(done);
    } catch (error) {
      refusal.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  }
  return {
    busy: busy.value,
    refusal: refusal.value,
    run: (...job: Parameters<typeof run>) => void run(...job),
  };
}
