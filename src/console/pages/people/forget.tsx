import { useSignal } from '@preact/signals';
import { Confirm } from '../../parts/confirm.tsx';
import { user } from '../../session.ts';
import { forgetPerson } from './kept.ts';

interface ForgetProps {
  readonly app: string;
  readonly identity: string;
  readonly onForgotten: () => Promise<void>;
}

/** Removes what is kept of a person, after a question. */
export function Forget({ app, identity, onForgotten }: ForgetProps) {
  const asking = useSignal(false);
  if (user.value?.role !== 'Admin')
    return <p class="quiet">An Admin of the team can remove what is kept of this person.</p>;
  const close = () => {
    asking.value = false;
  };
  async function send() {
    await forgetPerson(app, identity);
    await onForgotten();
  }
  return (
    <>
      <p class="actions">
        <button
          type="button"
          class="danger"
          onClick={() => {
            asking.value = true;
          }}
        >
          Forget this person
        </button>
      </p>
      {asking.value && (
        <Confirm
          title="Forget this person?"
          action="Forget this person"
          done="This person is forgotten"
          onConfirm={send}
          onClose={close}
        >
          <p class="people-name">
            <strong>{identity}</strong>
          </p>
          <p>
            Removed at once, in every environment of the application: the instance ids of this person, so that
            none is valid any more, and which variants they had. It cannot be undone.
          </p>
          <p>
            What stays: totals and counts of unique users, which name no one. The audit log says that a person
            was forgotten, and not who. If the application goes on sending this identity, it is kept again.
          </p>
        </Confirm>
      )}
    </>
  );
}
