import { describe, expect, it } from 'vitest';
import { administrator } from './administrator.ts';

const admin = administrator();
const { running, run, api } = admin;

describe('before it deletes', () => {
  const answering = (...answers: string[]) => ({ answers });

  it.each(['y', 'Y', 'yes', ' yes '])('a person is asked, and %j means it', async (answer) => {
    const { questions, err } = await run(`apps delete ${admin.application}`, answering(answer));
    expect(questions).toEqual([
      `Delete the application Shop (${admin.application}) at ${running.url}? Its keys and all its counts are deleted too. [y/N] `,
    ]);
    expect(err).toMatch(/^Deleted /);
    await api('GET', `/applications/${admin.application}`, 404);
  });

  it.each(['n', '', 'yess', 'Shop'])('a person is asked, and %j leaves it', async (answer) => {
    await expect(run(`apps delete ${admin.application}`, answering(answer))).rejects.toMatchObject({
      exitCode: 1,
      message: 'Nothing was deleted',
    });
    await api('GET', `/applications/${admin.application}`, 200);
  });

  it('--yes asks no question', async () => {
    expect((await run(`apps delete ${admin.application} --yes`, answering())).questions).toEqual([]);
    await api('GET', `/applications/${admin.application}`, 404);
  });
});
