import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { CapiExtensionConfig } from '../../api/cluster-api/kinds.ts';
import { capiExtensionConfig } from '../../api/cluster-api/kinds.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { chosenControllers } from '../../cmd/chosen-controllers.ts';
import { readFeatureGates } from '../../cmd/flags/feature-gates.ts';
import { runtimeExtensionParts } from './runtime-extension.ts';

const folder = join(import.meta.dirname, '../../config/clusterstacks/runtime-extension');
const server = new FakeCluster();
const partsOf = (gates: string, controllers = '*') =>
  runtimeExtensionParts({
    settings: {
      gates: readFeatureGates(gates),
      controllers: chosenControllers(controllers),
      watchFilter: '',
      namespace: 'team',
    },
    cluster: server,
    clock: new FakeClock(),
    enqueue: () => undefined,
  });

describe('The Runtime Extension', () => {
  test.each([
    ['', '*'],
    ['ClusterStacks=true', '*'],
    ['RuntimeSDK=true', '*'],
    ['ClusterStacks=true,RuntimeSDK=true', '*,-clusteraddon'],
  ])('is not served with the gates %p and the controllers %p', (gates, controllers) => {
    expect(partsOf(gates, controllers)).toEqual({ calls: {}, further: [] });
  });

  test('sends no request for a Cluster outside of --namespace', async () => {
    const { calls } = partsOf('ClusterStacks=true,RuntimeSDK=true');
    const [apiVersion, hook] = ['hooks.runtime.cluster.x-k8s.io/v1alpha1', 'beforeclusterupgrade'];
    const request = (namespace: string): object => ({
      ...{ apiVersion, kind: 'BeforeClusterUpgradeRequest', toKubernetesVersion: 'v1.36.3' },
      cluster: { metadata: { namespace, name: 'blue' } },
    });
    const ask = async (namespace: string): Promise<number> => {
      const before = server.calls.length;
      await calls[`/${apiVersion}/${hook}/before-cluster-upgrade`]?.(request(namespace), {
        signal: new AbortController().signal,
      });
      return server.calls.length - before;
    };
    expect([await ask('other'), await ask('team')]).toEqual([0, 1]);
  });

  test('is served where Cluster API calls it, and trusted by the shipped ExtensionConfig', () => {
    const { calls, further } = partsOf('ClusterStacks=true,RuntimeSDK=true');
    const hooks = '/hooks.runtime.cluster.x-k8s.io/v1alpha1';
    expect(Object.keys(calls)).toEqual([
      `${hooks}/discovery`,
      `${hooks}/aftercontrolplaneinitialized/after-control-plane-initialized`,
      `${hooks}/beforeclusterupgrade/before-cluster-upgrade`,
      `${hooks}/afterclusterupgrade/after-cluster-upgrade`,
    ]);
    const shipped = parse(readFileSync(join(folder, 'extension-config.yaml'), 'utf8')) as CapiExtensionConfig;
    const [client] = further;
    expect([client?.kind, client?.name]).toEqual([capiExtensionConfig, shipped.metadata.name]);
    expect([shipped.apiVersion, shipped.kind]).toEqual([apiVersionOf(capiExtensionConfig), capiExtensionConfig.kind]);
    expect(client?.patch(shipped, { bundle: 'PEM' })).toMatchObject({ type: 'merge' });
    expect(shipped.spec?.clientConfig?.service).toEqual({
      name: 'steward-webhook-service',
      namespace: 'steward-system',
      port: 443,
    });
  });
});
