import { useSignal } from '@preact/signals';
import type { InvitationShownOnce } from '../../../contract/shapes/invitation.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { call, resource } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Secret, type Shown } from '../../parts/form/create.tsx';
import { Choices, Form } from '../../parts/form/form.tsx';
import { format } from '../../text/format.ts';

/** A link for a user, to be copied. */
export function shownLink(name: string, { purpose, url, expiresAt }: InvitationShownOnce): Shown {
  const what = purpose === 'invitation' ? 'the invitation' : 'a reset link';
  return {
    title: `Send ${name} ${what}`,
    once: true,
    toSend: true,
    note: `The link is valid once, until ${format.time(expiresAt)}.`,
    values: [['Link', url]],
  };
}

/** Makes a link with which a user accepts an invitation, or chooses another password; or withdraws it. */
export function LinkDialog({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const { id, name, invitation } = user;
  const path = resource('users', id, 'reset-link');
  const made = useSignal<Shown | undefined>(undefined);
  const { busy, refusal, run } = useAction();
  if (made.value !== undefined) return <Secret {...made.value} onDone={onClose} />;
  const isInvited = invitation?.purpose === 'invitation';
  const withdraw = async () => {
    await call('DELETE', path);
    onClose();
  };
  return (
    <Dialog title={isInvited ? `Invite ${name} again` : `Reset the password of ${name}`} onClose={onClose}>
      <p>
        {isInvited
          ? 'They have not accepted the invitation yet.'
          : 'You get a link with which they choose another password.'}
        {invitation !== null && ' A new link replaces the previous one.'}
      </p>
      {invitation !== null && (
        <p class="actions">
          <button type="button" disabled={busy} onClick={() => run(withdraw, 'The link is withdrawn')}>
            Withdraw the link
          </button>
        </p>
      )}
      {refusal}
      <Form
        submit="Make the link"
        done="The link is made"
        onCancel={onClose}
        onSubmit={async (data) => {
          const body = { endSessions: data.has('endSessions') };
          made.value = shownLink(name, await call<InvitationShownOnce>('POST', path, { body }));
        }}
      >
        {!isInvited && (
          <Choices
            legend="If the password may have leaked"
            type="checkbox"
            name="endSessions"
            checked={() => false}
            choices={[
              [
                'on',
                'End all sessions now',
                'Their password ends now, too. Otherwise both end when the link is used.',
              ],
            ]}
          />
        )}
      </Form>
    </Dialog>
  );
}
