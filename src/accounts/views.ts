import { Refusal } from '../contract/errors.ts';
import { maxViews, type NewView, type ViewPatch } from '../contract/shapes/view.ts';
import type { Application, StoredView } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { checkLimit, checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { newId } from './secrets.ts';

export const onlyAuthor = 'Only the author of a shared view can make it private';

/** Returns the views of an application that a caller sees: shared views, and the caller's own views. */
export function listViews({ views = [] }: Application, caller: string): readonly StoredView[] {
  return views.filter(({ shared, author }) => shared || author === caller);
}

/**
 * Creates a view. Views only affect the display, so they are not in the audit log.
 * @throws {Refusal} `not_found` (application), `invalid_name`, `plan_limit`
 */
export function createView(
  directory: Directory,
  applicationId: string,
  author: string,
  { name, page, query = '', shared = false }: NewView,
): Promise<StoredView> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const views = application.views ?? [];
    checkName('a view', name);
    checkLimit('saved views of an application', views.length + 1, maxViews);
    const now = directory.clock.now();
    const number = tx.takeNumber('view');
    const own = { id: newId('view', directory.randomBytes), number, author, createdAt: now, updatedAt: now };
    const view: StoredView = { ...own, name, page, query, shared };
    put(tx, application, [...views, view]);
    return view;
  });
}

/** @throws {Refusal} `not_found`, `invalid_name`, `forbidden` */
export function patchView(
  directory: Directory,
  applicationId: string,
  caller: string,
  id: string,
  patch: ViewPatch,
): Promise<StoredView> {
  return directory.change((tx) => {
    const { application, view } = find(tx, applicationId, caller, id);
    if (patch.name !== undefined) checkName('a view', patch.name);
    if (patch.shared === false && view.author !== caller) throw new Refusal('forbidden', onlyAuthor);
    const changed = { ...view, ...patch, updatedAt: directory.clock.now() };
    put(
      tx,
      application,
      application.views!.map((each) => (each.id === id ? changed : each)),
    );
    return changed;
  });
}

/** @throws {Refusal} `not_found` */
export function deleteView(directory: Directory, applicationId: string, caller: string, id: string): Promise<void> {
  return directory.change((tx) => {
    const { application } = find(tx, applicationId, caller, id);
    put(
      tx,
      application,
      application.views!.filter((each) => each.id !== id),
    );
  });
}

/**
 * Deletes the private views of a user or API key in a transaction. Private views are visible to their author only.
 * @param from limits the deletion to the applications of this team
 */
export function dropPrivateViews(tx: AccountTransaction, authorId: string, from?: string): void {
  for (const application of [...tx.applications.values()]) {
    const { views = [], teamId } = application;
    if (from !== undefined && teamId !== from) continue;
    const left = views.filter(({ shared, author }) => shared || author !== authorId);
    if (left.length < views.length) put(tx, application, left);
  }
}

function find(tx: AccountTransaction, applicationId: string, caller: string, id: string) {
  const application = mustExist('application', tx.applications.get(applicationId));
  const view = listViews(application, caller).find((each) => each.id === id);
  return { application, view: mustExist('view', view) };
}

function put(tx: AccountTransaction, application: Application, views: readonly StoredView[]): void {
  tx.put('applications', application.id, { ...application, views });
}
