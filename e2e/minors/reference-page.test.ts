import { describe, expect, test } from '@jest/globals';

import { kubernetesReleases } from '../tools/kubernetes-releases.ts';
import type { MinorResult } from './minor-result.ts';
import { minorsPage } from './reference-page.ts';

const [newest, older, oldest] = kubernetesReleases;

const passed = ({ version }: { readonly version: string }, more: Partial<MinorResult> = {}): MinorResult => ({
  ...{ version, outcome: 'passed', date: '2026-11-26T02:03:04.000Z', commit: 'abc1234', secondsToReady: 8.26 },
  ...more,
});

describe('The page of minors', () => {
  test('shows when and of which commit a minor ran, and how its pod fared in the upgrade', () => {
    const page = minorsPage([
      passed(newest, { noUpgrade: 'the newest minor' }),
      passed(older, { upgrade: { to: newest.version, seconds: 21.04, calls: 50, failedCalls: 0 } }),
    ]);
    const { minor, version } = older;
    expect(page).toContain(
      `| ${minor} | ${version} | passed | 8.3 s | to ${newest.version} in 21.0 s; 0 of 50 calls failed | 2026-11-26, \`abc1234\` |`,
    );
    expect(page).toContain('| none: the newest minor | 2026-11-26');
  });

  test('lists minors without a result, and those that failed, as not passed', () => {
    const failed: MinorResult = {
      ...passed(oldest),
      ...{ outcome: 'failed', secondsToReady: undefined, error: 'worker: a|b\nc' },
    };
    const page = minorsPage([
      failed,
      ...kubernetesReleases.filter((each) => each !== oldest && each !== newest).map((each) => passed(each)),
    ]);
    expect(page).toContain(`\nNot passed: ${oldest.minor}, ${newest.minor}. `);
    expect(page).toContain(`| ${oldest.minor} | ${oldest.version} | failed: worker: a\\|b c |  |`);
    expect(page).toContain(`| ${newest.minor} | ${newest.version} | not run |`);
  });

  test('shows the version that ran, also when another is pinned by now', () => {
    expect(minorsPage([passed({ version: `v${newest.minor}.0` })])).toContain(
      `| ${newest.minor} | v${newest.minor}.0 | passed |`,
    );
  });

  test('says so when every minor has passed', () => {
    expect(minorsPage(kubernetesReleases.map((each) => passed(each)))).toContain(
      '\nEvery supported minor has passed.\n',
    );
  });
});
