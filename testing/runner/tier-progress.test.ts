import { describe, expect, test } from '@jest/globals';
import { TierProgress } from './tier-progress.ts';

const ended = (name: string) => ({
  is: 'file ended' as const,
  report: { name, status: 'passed', assertionResults: [{ fullName: 'one', status: 'passed' }] },
});
const short = (file: string): string => file.slice(1);

describe('the progress of a tier', () => {
  test('says that no test had begun while programs are built', () => {
    expect(new TierProgress().unfinished(short)).toBe('no test had begun');
  });

  test('names files that began and did not end, and counts those that wait', () => {
    const progress = new TierProgress();
    progress.hear({ is: 'began', files: 4 });
    for (const file of ['/a', '/b', '/c']) progress.hear({ is: 'file began', file });
    progress.hear(ended('/b'));
    expect(progress.unfinished(short)).toBe('unfinished of 4 files: a, c; 1 had not begun');
    expect(progress.report.testResults?.map(({ name }) => name)).toEqual(['/b']);
  });

  test('knows how long each file took that ended', () => {
    let now = 1_000;
    const progress = new TierProgress(() => now);
    progress.hear({ is: 'file began', file: '/a' });
    now = 2_000;
    progress.hear({ is: 'file began', file: '/b' });
    now = 4_500;
    progress.hear(ended('/a'));
    expect([...progress.seconds]).toEqual([['/a', 3.5]]);
  });

  test('names none when all files ended and the run did not', () => {
    const progress = new TierProgress();
    progress.hear({ is: 'began', files: 1 });
    progress.hear({ is: 'file began', file: '/a' });
    progress.hear(ended('/a'));
    expect(progress.unfinished(short)).toBe('unfinished of 1 files: none; 0 had not begun');
  });
});
