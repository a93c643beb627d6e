import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { Pod } from '../../../../api/core/kinds.ts';
import { podTroubles } from './pods.ts';

const pod = (name: string, status: Pod['status']): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: storedMeta({ name }),
  status,
});
const waiting = (reason: string, message?: string): Pod['status'] => ({
  containerStatuses: [
    {
      name: 'kine',
      ready: false,
      restartCount: 0,
      image: '',
      imageID: '',
      state: { waiting: { reason, message } },
    },
  ],
});

describe('The reason why pods do not run', () => {
  test('is the reason of a container, with its message if there is one', () => {
    expect(podTroubles([pod('a', waiting('ImagePullBackOff', 'no such image'))])).toBe(
      'container kine of pod a: ImagePullBackOff no such image',
    );
    expect(podTroubles([pod('a', waiting('CrashLoopBackOff'))])).toBe('container kine of pod a: CrashLoopBackOff');
  });

  test('is reported once, and for four pods at most', () => {
    const pods = ['a', 'a', 'b', 'c', 'd', 'e'].map((name) => pod(name, waiting('CrashLoopBackOff')));
    expect(podTroubles(pods).split('; ')).toEqual(
      ['a', 'b', 'c', 'd'].map((name) => `container kine of pod ${name}: CrashLoopBackOff`),
    );
  });
});
