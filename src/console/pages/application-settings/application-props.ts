import type { Thing } from '../../api/thing.ts';
import type { Application } from '../settings/shapes.ts';

/** What every part of an application's settings shows and changes. */
export interface ApplicationProps {
  readonly application: Application;
  readonly thing: Thing<Application>;
}
