/** A request and how it was answered, for the log. */
export interface Answered {
  readonly method: string;
  /** The route's pattern. The path may name a person. */
  readonly route: string;
  readonly status: number;
  /** Why it was refused. */
  readonly code: string | undefined;
  readonly ms: number;
  /** Length of the reply's body. */
  readonly bytes: number;
  readonly requestId: string;
}
