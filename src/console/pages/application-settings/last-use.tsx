import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import type { ApplicationKey } from '../settings/shapes.ts';
import { oldKeyState } from './key-words.ts';

/** When a key was last used, and what that means for deleting it. */
export function LastUse({ of: { lastUsedAt, name } }: { readonly of: ApplicationKey }) {
  switch (oldKeyState(lastUsedAt, now.value)) {
    case 'never used':
      return <p>Nothing has ever been sent with {name}.</p>;
    case 'in use':
      return (
        <p class="warn">
          {name} was last used {format.relative(lastUsedAt!, now.value)}: something still sends with it.
        </p>
      );
    case 'quiet':
      return (
        <p>
          {name} was last used {format.relative(lastUsedAt!, now.value)}, at {format.time(lastUsedAt!)}.
        </p>
      );
  }
}
