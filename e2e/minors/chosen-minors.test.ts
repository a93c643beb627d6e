import { describe, expect, test } from '@jest/globals';

import { kubernetesReleases } from '../tools/kubernetes-releases.ts';
import { chosenMinors } from './chosen-minors.ts';

const [newest, older] = kubernetesReleases;

describe('The minors of a run', () => {
  test('are all that are pinned, the oldest first, unless some are named', () => {
    expect(chosenMinors(undefined)).toEqual(kubernetesReleases.toReversed());
  });

  test('are those that are named, each once and in order', () => {
    expect(chosenMinors(`${newest.minor}, v${older.minor},${newest.version}`)).toEqual([older, newest]);
  });

  test('that are not pinned are refused', () => {
    expect(() => chosenMinors('1.28')).toThrow(/"1\.28" is not pinned; pinned are /);
  });
});
