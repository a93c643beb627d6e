import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { minorOf, readMinorResults } from '../../e2e/minors/results-file.ts';
import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import { minorsThatRan, newestMinor, oldestMinor } from '../../kubeadm/versions.ts';

const root = join(import.meta.dirname, '../..');
const linesOf = (file: string): readonly string[] => readFileSync(join(root, file), 'utf8').split('\n');

const results = await readMinorResults();
const supported = Array.from({ length: newestMinor - oldestMinor + 1 }, (_, at) => `1.${oldestMinor + at}`);
const ran = results.filter(({ outcome }) => outcome === 'passed').map(({ version }) => minorOf(version));
const notRun = supported.filter((minor) => !ran.includes(minor));

/** The minors that a text names. */
const minorsIn = (text = ''): readonly string[] => [...new Set(text.match(/\b1\.\d\d\b/g) ?? [])].toSorted();

describe('The supported minors of Kubernetes', () => {
  test('are all pinned, and no other is', () => {
    expect(kubernetesReleases.map(({ minor }) => minor).toSorted()).toEqual(supported);
  });

  test('are run or warned about, as the committed results of `npm run minors` show', () => {
    expect(minorsThatRan.map((minor) => `1.${minor}`).toSorted()).toEqual(ran.toSorted());
  });

  test('that have not run are named in the README, and no other is', () => {
    const [, , works, notYet] =
      linesOf('README.md')
        .find((line) => line.startsWith('| Kubernetes |'))
        ?.split('|') ?? [];
    expect(minorsIn(works)).toEqual([supported[0], supported.at(-1)]);
    expect(minorsIn(notYet)).toEqual(notRun);
  });

  test('that have not run are listed as unverified, and no other is', () => {
    const row = linesOf('docs/reference/unverified.md').find((line) =>
      line.startsWith('| control planes of Kubernetes'),
    );
    expect(minorsIn(row?.split('|')[1])).toEqual(notRun);
  });
});
