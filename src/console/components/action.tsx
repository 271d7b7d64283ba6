import { useSignal } from '@preact/signals';
import { announce } from './announce.tsx';
import { restoreFocus } from './dialog.tsx';
import { Reason } from './failure.tsx';

/** Runs the requests of buttons, one at a time. `refusal` shows why the last request failed. */
export function useAction() {
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  /** @param request returns `false` if nothing was changed @param done text that is announced after a success */
  async function run(request: () => Promise<unknown>, done: string): Promise<void> {
    if (busy.value) return;
    const button = document.activeElement;
    busy.value = true;
    error.value = undefined;
    try {
      if ((await request()) !== false) announce(done);
    } catch (failure) {
      error.value = failure;
    } finally {
      busy.value = false;
      // A button loses the focus when it is disabled.
      setTimeout(restoreFocus, 0, button);
    }
  }
  return {
    busy: busy.value,
    refusal: <Reason error={error.value} />,
    run: (request: () => Promise<unknown>, done: string) => void run(request, done),
  };
}
