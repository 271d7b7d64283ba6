import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { surplusName } from '../../../contract/names.ts';
import type { OverviewFeature } from '../../../contract/shapes/overview.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { call, resource } from '../../api/client.ts';
import { useWholeList } from '../../api/list.ts';
import { forget } from '../../api/poll.ts';
import { describeError } from '../../api/problem.ts';
import { user } from '../../api/session.ts';
import { announce } from '../../components/announce.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { Field, Form, SelectField } from '../../components/form/form.tsx';
import { KeepFields, readKeeping } from '../../components/form/keep.tsx';
import { Menu } from '../../components/menu.tsx';
import { format, plural } from '../../text/format.ts';
import {
  type BulkAction,
  type BulkProgress,
  type BulkStep,
  bulkActions,
  keepAction,
  ownerAction,
  runSteps,
  tagAction,
} from './bulk-actions.ts';

interface BulkProps {
  readonly app: string;
  readonly rows: readonly OverviewFeature[];
  readonly onClear: () => void;
}

/** True if the name of a flag can be a segment of a path. */
const isAddressable = ({ feature }: OverviewFeature) => feature !== '.' && feature !== '..' && feature !== surplusName;

export function Bulk({ app, rows, onClear }: BulkProps) {
  const { state, start, stop } = useBulk(app);
  const dialog = useDialog();
  const apply = (action: BulkAction) => void start(action, rows.filter(isAddressable));
  const ask = (Asking: typeof TagDialog) => dialog.open(<Asking onChoose={apply} onClose={dialog.close} />);
  const running = state !== undefined && state.result === undefined;
  return (
    <section class="overview-bulk panel" aria-label="Selected flags">
      {rows.length > 0 && (
        <p class="actions">
          <strong>{plural(rows.length, 'flag')} selected</strong>
          <Menu
            label="Change"
            title={`Change ${plural(rows.length, 'flag')}`}
            items={[
              ...bulkActions.map((action) => ({ label: action.label, onSelect: () => apply(action) })),
              { label: 'Keep until …', apart: true, onSelect: () => ask(KeepDialog) },
              { label: 'Set owner …', onSelect: () => ask(OwnerDialog) },
              { label: 'Add tag …', onSelect: () => ask(TagDialog) },
            ]}
          />
          <CopyButton text={() => rows.map(({ feature }) => feature).join('\n')} label="Copy names" />
          <button type="button" onClick={onClear}>
            Clear selection
          </button>
        </p>
      )}
      {state !== undefined && (
        <Progress state={state} running={running} onStop={stop} onUndo={() => void start(...state.undo!)} />
      )}
      {dialog.element}
    </section>
  );
}

interface BulkState {
  readonly action: BulkAction;
  readonly progress: BulkProgress;
  readonly result?: BulkProgress;
  readonly undo?: readonly [BulkAction, readonly OverviewFeature[]];
}

function useBulk(app: string) {
  const state = useSignal<BulkState | undefined>(undefined);
  const stopped = useRef(false);
  async function start(action: BulkAction, rows: readonly OverviewFeature[]): Promise<void> {
    const steps = rows.flatMap((row): BulkStep[] => {
      const patch = action.patch(row);
      return patch === undefined ? [] : [{ name: row.feature, patch }];
    });
    stopped.current = false;
    state.value = { action, progress: { total: steps.length, done: [], failed: [] } };
    const result = await runSteps(
      steps,
      ({ name, patch }) => call('PATCH', resource('applications', app, 'features', name), { body: patch }),
      (progress) => {
        state.value = { action, progress };
        return !stopped.current;
      },
    );
    forget(resource('applications', app, 'features'));
    forget(resource('applications', app, 'overview'));
    const undo = action.undo && result.done.length > 0 ? createUndo(action, rows, result) : undefined;
    state.value = { action, progress: result, result, ...(undo && { undo }) };
    announce(resultText(action, result));
  }
  return { state: state.value, start, stop: () => (stopped.current = true) };
}

function createUndo(
  { undo }: BulkAction,
  rows: readonly OverviewFeature[],
  { done }: BulkProgress,
): readonly [BulkAction, readonly OverviewFeature[]] {
  const changed = new Set(done);
  return [{ label: 'Undo', done: 'restored', patch: undo! }, rows.filter(({ feature }) => changed.has(feature))];
}

/** Formats the result: `12 flags archived, 1 failed`. */
function resultText({ done }: BulkAction, result: BulkProgress): string {
  const parts = [`${plural(result.done.length, 'flag')} ${done}`];
  if (result.failed.length > 0) parts.push(`${format.full(result.failed.length)} failed`);
  const left = result.total - result.done.length - result.failed.length;
  if (left > 0) parts.push(`${format.full(left)} not started`);
  return result.total === 0 ? 'No flag needs this change' : parts.join(', ');
}

interface ProgressProps {
  readonly state: BulkState;
  readonly running: boolean;
  readonly onStop: () => void;
  readonly onUndo: () => void;
}

function Progress({ state: { action, progress, undo }, running, onStop, onUndo }: ProgressProps) {
  const { done, failed, total } = progress;
  const shown = failed.slice(0, maxFailures);
  return (
    <>
      {running ? (
        <p class="actions">
          <progress max={total} value={done.length + failed.length} aria-label={action.label} />
          {format.full(done.length + failed.length)} of {format.full(total)}
          <button type="button" onClick={onStop}>
            Stop
          </button>
        </p>
      ) : (
        <p class="actions">
          {resultText(action, progress)}.
          {undo !== undefined && (
            <button type="button" onClick={onUndo}>
              Undo
            </button>
          )}
        </p>
      )}
      {shown.length > 0 && (
        <ul class="bad">
          {shown.map(({ name, error }) => (
            <li key={name}>
              {name}: {describeError(error)}
            </li>
          ))}
          {failed.length > shown.length && <li>and {format.full(failed.length - shown.length)} more</li>}
        </ul>
      )}
    </>
  );
}

const maxFailures = 10;

interface BulkDialogProps {
  readonly onChoose: (action: BulkAction) => void;
  readonly onClose: () => void;
}

interface ActionDialogProps extends BulkDialogProps {
  readonly title: string;
  readonly read: (data: FormData) => BulkAction;
  readonly children: ComponentChildren;
}

function ActionDialog({ title, read, onChoose, onClose, children }: ActionDialogProps) {
  async function submit(data: FormData) {
    onClose();
    onChoose(read(data));
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit={title} done="Change started" onCancel={onClose} onSubmit={submit}>
        {children}
      </Form>
    </Dialog>
  );
}

const KeepDialog = (props: BulkDialogProps) => (
  <ActionDialog title="Keep flags" read={(data) => keepAction(readKeeping(data))} {...props}>
    <KeepFields permanent={false} snoozedUntil={null} />
  </ActionDialog>
);

const TagDialog = (props: BulkDialogProps) => (
  <ActionDialog title="Add tag" read={(data) => tagAction(String(data.get('tag')).trim())} {...props}>
    <Field name="tag" label="Tag" required maxLength={50} autoFocus autocomplete="off" />
  </ActionDialog>
);

function OwnerDialog(props: BulkDialogProps) {
  const { items: teams = [] } = useWholeList<Team>(resource('teams'), {});
  const { id, name } = user.value!;
  const read = (data: FormData) => {
    const chosen = String(data.get('owner'));
    const text = String(data.get('name')).trim();
    if (text !== '') return ownerAction({ type: 'text', name: text }, text);
    if (chosen === id) return ownerAction({ type: 'user', id }, name);
    return ownerAction({ type: 'team', id: chosen }, teams.find((team) => team.id === chosen)?.name ?? chosen);
  };
  return (
    <ActionDialog title="Set owner" read={read} {...props}>
      <SelectField
        name="owner"
        label="Owner"
        options={[[id, `${name} (you)`], ...teams.map((team) => [team.id, team.name] as const)]}
      />
      <Field
        name="name"
        label="Another owner"
        hint="A text, instead of the choice above."
        maxLength={100}
        autocomplete="off"
      />
    </ActionDialog>
  );
}
