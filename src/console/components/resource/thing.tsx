import type { ComponentChildren } from 'preact';
import { fieldText, listDifferences, valueText } from '../../api/differences.ts';
import { isHidden } from '../../api/problem.ts';
import type { Conflict, Thing } from '../../api/thing.ts';
import { Dialog } from '../dialog.tsx';
import { NotFound, Reason, Skeleton } from '../failure.tsx';

interface OfThingProps<T> {
  readonly thing: Thing<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows the page of a resource once it has been read, and a dialog if a change conflicts. */
export function OfThing<T extends object>({ thing, children }: OfThingProps<T>) {
  const { data, error, conflict } = thing;
  if (isHidden(error)) return <NotFound error={error} />;
  if (data === undefined)
    return error === undefined ? (
      <Skeleton kind="lines" />
    ) : (
      <Reason error={error} onRetry={() => void thing.reload()} />
    );
  return (
    <>
      {children(data)}
      <ConflictDialog conflict={conflict} />
    </>
  );
}

export function ConflictDialog<T extends object>({ conflict }: { conflict: Conflict<T> | undefined }) {
  if (conflict === undefined) return null;
  const { before, theirs, mine, decide } = conflict;
  return (
    <Dialog title="Someone else changed this while you edited it">
      <p>Your changes are not saved yet.</p>
      <div class="table-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Before</th>
              <th scope="col">Now</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {listDifferences(before, theirs, mine).map((each) => (
              <tr key={each.field}>
                <th scope="row">{fieldText(each.field)}</th>
                <td>{valueText(each.before)}</td>
                <td>{valueText(each.theirs)}</td>
                <td>{each.mine === undefined ? 'unchanged' : valueText(each.mine)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">Saving your changes affects only the values in the last column.</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => decide('mine')}>
          Save my changes
        </button>
        <button type="button" onClick={() => decide('theirs')}>
          Discard my changes
        </button>
      </p>
    </Dialog>
  );
}
