import { describe, expect, test } from '@jest/globals';
import { readBoundaries } from './boundary-settings.ts';
import { UsageError } from './flags.ts';

const read = (standard: string, allowed = '') =>
  readBoundaries({ 'default-pod-security-standard': standard, 'allow-extra-args': allowed });

describe('The flags that limit tenant authors', () => {
  test('are accepted per component, with dashes or underscores', () => {
    const { allowedArguments, defaultStandard } = read('restricted', 'apiServer:etcd_prefix, kine:--endpoint');
    expect(defaultStandard).toBe('restricted');
    expect([...allowedArguments]).toEqual(['apiServer:etcd-prefix', 'kine:endpoint']);
  });

  test('apply to all components if they name none', () => {
    expect(read('baseline', 'kubeconfig').allowedArguments.has('scheduler:kubeconfig')).toBe(true);
  });

  test.each([
    ['Baseline', '', '--default-pod-security-standard takes privileged, baseline, restricted, got "Baseline"'],
    ['baseline', 'etcd:prefix', '--allow-extra-args takes component:flag'],
    ['baseline', 'apiServer:', '--allow-extra-args takes component:flag'],
    ['baseline', 'apiServer:a=b', '--allow-extra-args takes component:flag'],
  ])('are refused as %j and %j', (standard, allowed, message) => {
    expect(() => read(standard, allowed)).toThrow(UsageError);
    expect(() => read(standard, allowed)).toThrow(message);
  });
});
