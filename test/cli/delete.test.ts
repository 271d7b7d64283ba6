import { describe, expect, it } from 'vitest';
import { administrator } from './administrator.ts';

const admin = administrator();
const { running, run, api } = admin;

describe('the confirmation of a deletion', () => {
  const answering = (...answers: string[]) => ({ answers });

  it.each(['y', 'Y', 'yes', ' yes '])('an item is deleted if the user confirms with %j', async (answer) => {
    const { questions, err } = await run(`apps delete ${admin.application}`, answering(answer));
    expect(questions).toEqual([
      `Delete the application Shop (${admin.application}) at ${running.url}? The keys and all counts of the application are deleted too. [y/N] `,
    ]);
    expect(err).toMatch(/^Deleted /);
    await api('GET', `/applications/${admin.application}`, 404);
  });

  it.each(['n', '', 'yess', 'Shop'])('no item is deleted if the user answers with %j', async (answer) => {
    await expect(run(`apps delete ${admin.application}`, answering(answer))).rejects.toMatchObject({
      exitCode: 1,
      message: 'Nothing was deleted',
    });
    await api('GET', `/applications/${admin.application}`, 200);
  });

  it('an item is deleted without a confirmation if --yes is given', async () => {
    expect((await run(`apps delete ${admin.application} --yes`, answering())).questions).toEqual([]);
    await api('GET', `/applications/${admin.application}`, 404);
  });
});
