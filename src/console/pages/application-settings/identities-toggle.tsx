import { useSignal } from '@preact/signals';
import { announce } from '../../parts/announce.tsx';
import { Reason } from '../../parts/failure.tsx';
import { isAdmin } from '../settings/role.tsx';
import type { ApplicationProps } from './application-props.ts';

/** Whether packets may say themselves who they are about. */
export function IdentitiesToggle({ application: { acceptClientIdentities: on }, thing }: ApplicationProps) {
  const failure = useSignal<unknown>(undefined);
  async function toggle(): Promise<void> {
    try {
      failure.value = undefined;
      const saved = await thing.change(() => ({ acceptClientIdentities: !on }));
      if (saved)
        announce(on ? 'Client-generated identities are ignored' : 'Client-generated identities are accepted');
    } catch (error) {
      failure.value = error;
    }
  }
  return (
    <section class="settings-part">
      <h2>Client-generated identities</h2>
      <label class="settings-switch">
        <input
          type="checkbox"
          checked={on}
          disabled={!isAdmin()}
          onClick={(event) => {
            event.preventDefault();
            void toggle();
          }}
        />
        Accept client-generated identities for metrics
      </label>
      <p class="quiet">
        A packet can name a person in its field <code>u</code>, and anyone can write anything there. Such a
        person counts only while this is on. Identities that your server has minted (<code>i</code>) always
        count.
      </p>
      <Reason error={failure.value} />
    </section>
  );
}
