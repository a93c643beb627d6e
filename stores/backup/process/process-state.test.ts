import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Pod } from '../../../api/core/kinds.ts';
import { podTroubles } from './process-state.ts';

const pod = (name: string, status: Pod['status']): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: storedMeta({ name, namespace: 'steward-system' }) },
  status,
});
const condition = (type: string, status: 'True' | 'False', message?: string) => ({
  conditions: [{ type, status, message }],
});
const waiting = (reason: string, message?: string) => ({
  containerStatuses: [
    { name: 'backup', image: 'i', imageID: '', restartCount: 0, ready: false, state: { waiting: { reason, message } } },
  ],
});

test('A pod that no node takes is named with what the scheduler says', () => {
  const pods = [pod('a', { phase: 'Pending', ...condition('PodScheduled', 'False', 'no node has memory') })];
  expect(podTroubles(pods)).toBe('pod a: no node has memory');
});

test('A pod that is scheduled is no trouble because another condition is False', () => {
  expect(podTroubles([pod('a', { phase: 'Running', ...condition('Ready', 'False', 'containers are starting') })])).toBe(
    '',
  );
});

test('A container that waits is named, one that has ended is not', () => {
  const pods = [pod('a', { phase: 'Pending', ...waiting('ImagePullBackOff', 'no such image') })];
  expect(podTroubles(pods)).toBe('pod a: ImagePullBackOff no such image');
  expect(podTroubles([pod('a', { phase: 'Failed', ...waiting('ImagePullBackOff') })])).toBe('');
});
