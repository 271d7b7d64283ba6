/** A request and its outcome, for the log. */
export interface Answered {
  readonly method: string;
  /** The route's pattern. The path may name a person. */
  readonly route: string;
  readonly status: number;
  /** The refusal's code. */
  readonly code: string | undefined;
  readonly ms: number;
  /** Length of the reply's body. */
  readonly bytes: number;
  readonly requestId: string;
}
