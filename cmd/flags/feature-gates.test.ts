import { describe, expect, test } from '@jest/globals';
import { readFeatureGates } from './feature-gates.ts';
import { UsageError } from './flags.ts';

describe('Feature gates', () => {
  test('are off by default, and names of gates of other providers are ignored', () => {
    const off = {
      externalClusterReference: false,
      externalClusterReferenceCrossNamespace: false,
      clusterStacks: false,
      runtimeSdk: false,
      backups: false,
    };
    expect(readFeatureGates('ClusterStacks=true')).toEqual({ ...off, clusterStacks: true });
    expect(readFeatureGates('RuntimeSDK=true')).toEqual({ ...off, runtimeSdk: true });
    expect(readFeatureGates('')).toEqual(off);
    expect(readFeatureGates('MachinePool=true, ExternalClusterReference=false')).toEqual(off);
    expect(readFeatureGates('ExternalClusterReference=true')).toEqual({ ...off, externalClusterReference: true });
    expect(readFeatureGates('ExternalClusterReferenceCrossNamespace=true,ExternalClusterReference=true')).toEqual({
      ...off,
      externalClusterReference: true,
      externalClusterReferenceCrossNamespace: true,
    });
  });

  test.each(['ExternalClusterReference', 'ExternalClusterReference=yes', '=true'])('%s is refused', (text) => {
    expect(() => readFeatureGates(text)).toThrow(UsageError);
    expect(() => readFeatureGates(text)).toThrow(text);
  });
});
