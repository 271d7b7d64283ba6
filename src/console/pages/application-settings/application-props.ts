import type { Application } from '../../../contract/shapes/application.ts';
import type { Thing } from '../../api/thing.ts';

/** The properties of a section of an application's settings. */
export interface ApplicationProps {
  readonly application: Application;
  readonly thing: Thing<Application>;
}
