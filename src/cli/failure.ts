/** Exit codes, as `flagmeter help` lists them. 0 is success. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  unauthorized: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  unavailable: 7,
  found: 8,
  interrupted: 130,
} as const;

/** The failure of a command. The message is one line, without secrets. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: keyof typeof exitCodes;
  readonly exitCode: number;

  constructor(kind: keyof typeof exitCodes, message: string) {
    super(message);
    this.kind = kind;
    this.exitCode = exitCodes[kind];
  }
}

export function findFailureKind(status: number): keyof typeof exitCodes {
  switch (status) {
    case 400:
      return 'usage';
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'notFound';
    case 409:
    case 412:
      return 'conflict';
    case 429:
    case 502:
    case 503:
    case 504:
      return 'unavailable';
    default:
      return 'failed';
  }
}
