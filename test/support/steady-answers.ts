/** What moves on by itself. */
const moving = ['completeThrough', 'lastUsedAt'];

/** Answers of the management API without what moves on by itself. */
export function steadyAnswers(answers: unknown): unknown {
  return JSON.parse(JSON.stringify(answers, (key, value) => (moving.includes(key) ? undefined : value)));
}
