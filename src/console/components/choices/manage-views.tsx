import type { SavedView, ViewPage } from '../../../contract/shapes/view.ts';
import { call, resource } from '../../api/client.ts';
import { useWholeList } from '../../api/list.ts';
import { forget } from '../../api/poll.ts';
import { changePreferences, hasRole, preferences } from '../../reader/reader.tsx';
import { useAction } from '../action.tsx';
import { CloseButton, Dialog } from '../dialog.tsx';
import { Choices, Field, Form } from '../form/form.tsx';
import { type Column, Table } from '../table/table.tsx';

interface ViewsProps {
  readonly application: string;
  readonly page: ViewPage;
  readonly query: string;
  readonly onClose: () => void;
}

const viewsPath = (application: string) => resource('applications', application, 'views');

const visibilities = [
  ['private', 'Private', 'Only you see the view.'],
  ['shared', 'Shared', 'Everyone who can see the application sees the view.'],
] as const;

export function SaveView({ application, page, query, onClose }: ViewsProps) {
  async function save(data: FormData) {
    const shared = data.get('shared') === 'shared';
    const body = { name: String(data.get('name')).trim(), page, query, shared };
    const { id } = await call<SavedView>('POST', viewsPath(application), { body });
    if (data.has('favourite')) await setFavourite(id, true);
    forget(viewsPath(application));
    onClose();
  }
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <Form submit="Save" done="View saved" onCancel={onClose} onSubmit={save}>
        <Field name="name" label="Name" required autoFocus autocomplete="off" />
        <Choices
          name="shared"
          legend="Visible to"
          type="radio"
          choices={visibilities}
          checked={(value) => value === 'private'}
        />
        <Choices
          name="favourite"
          legend="At the top of the page"
          type="checkbox"
          choices={[['yes', 'Favourite', 'A link at the top of the page, for you.']]}
          checked={() => true}
        />
        <p class="hint">
          A view stores the range, the search, the filters and the order of the page, but not the environment.
        </p>
      </Form>
    </Dialog>
  );
}

async function setFavourite(id: string, on: boolean): Promise<void> {
  const others = (preferences.value?.favourites ?? []).filter((each) => each !== id);
  await changePreferences({ favourites: on ? [...others, id] : others });
}

export function ManageViews({ application, page, query, onClose }: ViewsProps) {
  const { items = [] } = useWholeList<SavedView>(viewsPath(application), {});
  const action = useAction();
  return (
    <Dialog title="Views" onClose={onClose}>
      <Table
        caption="Saved views"
        rows={items.filter((view) => view.page === page)}
        rowKey={({ id }) => id}
        stacked
        empty="No saved views."
        columns={createColumns(viewsPath(application), query, action)}
      />
      {action.refusal}
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}

type Action = ReturnType<typeof useAction>;

function createColumns(path: string, query: string, action: Action): Column<SavedView>[] {
  const columns: Column<SavedView>[] = [
    { key: 'favourite', title: 'Favourite', cell: (view) => <Favourite view={view} action={action} /> },
    {
      key: 'name',
      title: 'Name',
      cell: (view) => (hasRole('User') ? <Name path={path} view={view} action={action} /> : view.name),
    },
    { key: 'by', title: 'By', cell: ({ shared, by }) => (shared ? (by ?? 'a former user') : 'private') },
  ];
  if (!hasRole('User')) return columns;
  const cell = (view: SavedView) => <Actions path={path} query={query} view={view} action={action} />;
  return [...columns, { key: 'actions', title: 'Actions', cell }];
}

interface CellProps {
  readonly view: SavedView;
  readonly action: Action;
}

function Favourite({ view: { id, name }, action: { run } }: CellProps) {
  const set = (on: boolean) =>
    run(() => setFavourite(id, on), on ? `Added ${name} to favourites` : `Removed ${name} from favourites`);
  return (
    <input
      type="checkbox"
      aria-label={`Favourite: ${name}`}
      checked={preferences.value?.favourites.includes(id) ?? false}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
  );
}

interface ChangeProps extends CellProps {
  readonly path: string;
}

async function patchView(path: string, id: string, body: object): Promise<void> {
  await call('PATCH', `${path}/${id}`, { body });
  forget(path);
}

function Name({ path, view: { id, name }, action: { run } }: ChangeProps) {
  return (
    <input
      aria-label={`Name of ${name}`}
      value={name}
      onChange={({ currentTarget: { value } }) => run(() => patchView(path, id, { name: value }), 'View renamed')}
    />
  );
}

function Actions({ path, query, view, action: { busy, run } }: ChangeProps & { readonly query: string }) {
  const { id, name, shared, mine } = view;
  async function remove() {
    await call('DELETE', `${path}/${id}`);
    if (preferences.value?.favourites.includes(id)) await setFavourite(id, false);
    forget(path);
  }
  return (
    <span class="actions">
      <button
        type="button"
        disabled={busy}
        title="Replaces the saved choices with the choices of the page"
        onClick={() => run(() => patchView(path, id, { query }), `Updated ${name}`)}
      >
        Update
      </button>
      {(mine || !shared) && (
        <button
          type="button"
          disabled={busy}
          onClick={() => run(() => patchView(path, id, { shared: !shared }), `Changed ${name}`)}
        >
          {shared ? 'Make private' : 'Share'}
        </button>
      )}
      <button type="button" class="danger" disabled={busy} onClick={() => run(remove, `Deleted ${name}`)}>
        Delete
      </button>
    </span>
  );
}
