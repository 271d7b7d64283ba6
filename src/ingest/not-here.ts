/** Thrown by a step of the pipeline that only another thread can take. */
export class NotHere extends Error {
  override readonly name = 'NotHere';
}
