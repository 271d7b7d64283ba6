import type { GivenOwner } from '../../../contract/shapes/owner.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { resource } from '../../api/client.ts';
import { useWholeList } from '../../api/list.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form, SelectField } from '../../parts/form.tsx';
import { user } from '../../session.ts';
import { type BulkAction, ownerAction, tagAction } from './bulk-actions.ts';

interface BulkDialogProps {
  readonly onChoose: (action: BulkAction) => void;
  readonly onClose: () => void;
}

/** Asks for a tag of the selected flags. */
export function TagDialog({ onChoose, onClose }: BulkDialogProps) {
  async function submit(data: FormData) {
    onClose();
    onChoose(tagAction(String(data.get('tag')).trim()));
  }
  return (
    <Dialog title="Add a tag" onClose={onClose}>
      <Form submit="Add" done="The tag is added" onCancel={onClose} onSubmit={submit}>
        <Field name="tag" label="Tag" required maxLength={50} autoFocus autocomplete="off" />
      </Form>
    </Dialog>
  );
}

/** Asks for the owner of the selected flags: the reader, one of their teams, or a text. */
export function OwnerDialog({ onChoose, onClose }: BulkDialogProps) {
  const { items: teams = [] } = useWholeList<Team>(resource('teams'), {});
  const { id, name } = user.value!;
  async function submit(data: FormData) {
    const chosen = String(data.get('owner'));
    const text = String(data.get('name')).trim();
    onClose();
    const owner: GivenOwner = text !== '' ? { type: 'text', name: text } : ownerOf(chosen);
    const shown = text || (chosen === id ? name : (teams.find((team) => team.id === chosen)?.name ?? chosen));
    onChoose(ownerAction(owner, shown));
  }
  const ownerOf = (chosen: string): GivenOwner => ({ type: chosen === id ? 'user' : 'team', id: chosen });
  return (
    <Dialog title="Set the owner" onClose={onClose}>
      <Form submit="Set" done="The owner is set" onCancel={onClose} onSubmit={submit}>
        <SelectField
          name="owner"
          label="Owner"
          options={[[id, `${name} (you)`], ...teams.map((team) => [team.id, team.name] as const)]}
        />
        <Field
          name="name"
          label="Somebody else"
          hint="A text, instead of the choice above."
          maxLength={100}
          autocomplete="off"
        />
      </Form>
    </Dialog>
  );
}
