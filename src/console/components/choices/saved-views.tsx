import { useLocation } from 'preact-iso';
import type { SavedView, ViewPage } from '../../../contract/shapes/view.ts';
import { environmentAddress } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { resource } from '../../api/client.ts';
import { useWholeList } from '../../api/list.ts';
import { hasRole, preferences } from '../../reader/reader.tsx';
import { useDialog } from '../dialog.tsx';
import { Menu } from '../menu.tsx';

interface SavedViewsProps extends InEnvironment {
  readonly page: ViewPage;
}

/** The saved views of a page: links to the favourites, and a menu with all views. */
export function SavedViews({ application, environment, page }: SavedViewsProps) {
  const { query, route } = useLocation();
  const { items = [] } = useWholeList<SavedView>(resource('applications', application, 'views'), {});
  const dialog = useDialog();
  const views = items.filter((view) => view.page === page);
  const favourites = new Set(preferences.value?.favourites);
  const present = new URLSearchParams(query).toString();
  const isOpen = (view: SavedView) => canonical(view.query) === canonical(present);
  const viewAddress = (view: SavedView) => {
    const text = canonical(view.query);
    return environmentAddress(application, environment, page) + (text === '' ? '' : `?${text}`);
  };
  const edit = async (choice: 'save' | 'manage') => {
    const { ManageViews, SaveView } = await import('./manage-views.tsx');
    const props = { application, page, query: present, onClose: dialog.close };
    dialog.open(choice === 'save' ? <SaveView {...props} /> : <ManageViews {...props} />);
  };
  const actions = [
    ...(hasRole('User')
      ? [{ label: 'Save this view …', apart: views.length > 0, onSelect: () => void edit('save') }]
      : []),
    ...(views.length > 0 ? [{ label: 'Manage views …', onSelect: () => void edit('manage') }] : []),
  ];
  if (actions.length === 0) return null;
  return (
    <>
      <Menu
        label="Views"
        items={[
          ...views.map((view) => ({
            label: view.shared ? view.name : `${view.name} (private)`,
            checked: isOpen(view),
            onSelect: () => route(viewAddress(view)),
          })),
          ...actions,
        ]}
      />
      {views.some(({ id }) => favourites.has(id)) && (
        <nav class="favourites" aria-label="Favourite views">
          {views
            .filter(({ id }) => favourites.has(id))
            .map((view) => (
              <a key={view.id} class="pill" href={viewAddress(view)} aria-current={isOpen(view) ? 'page' : undefined}>
                {view.name}
              </a>
            ))}
        </nav>
      )}
      {dialog.element}
    </>
  );
}

function canonical(query: string): string {
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return parameters.toString();
}
