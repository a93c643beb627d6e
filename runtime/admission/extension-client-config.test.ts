import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import type { CapiExtensionConfig } from '../../api/cluster-api/kinds.ts';
import { extensionConfigPatch } from './extension-client-config.ts';

type ClientConfig = NonNullable<NonNullable<CapiExtensionConfig['spec']>['clientConfig']>;

const config = (clientConfig: ClientConfig): CapiExtensionConfig => ({
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: storedMeta({ name: 'ours' }),
  spec: { clientConfig },
});
const bundle = 'PEM\n';
const caBundle = Buffer.from(bundle).toString('base64');
const merge = (clientConfig: object): object => ({ type: 'merge', body: { spec: { clientConfig } } });

describe('The client configuration of an ExtensionConfig', () => {
  test('gets the CA, and keeps its Service', () => {
    expect(extensionConfigPatch(config({ service: {} }), { bundle })).toEqual(merge({ caBundle }));
    expect(extensionConfigPatch(config({ service: {}, caBundle: 'old' }), { bundle })).toEqual(merge({ caBundle }));
  });

  test.each<[string, ClientConfig, string]>([
    ['a Service', { service: {} }, 'https://10.0.0.1:9443/'],
    ['a Service with a path', { service: { path: '/below' } }, 'https://10.0.0.1:9443/below'],
    ['another address', { url: 'https://other:1/below' }, 'https://10.0.0.1:9443/below'],
  ])('gets the address of a manager outside of the cluster instead of %s', (_, had, url) => {
    const client = { bundle, url: 'https://10.0.0.1:9443' };
    expect(extensionConfigPatch(config(had), client)).toEqual(merge({ caBundle, url, service: null }));
    expect(extensionConfigPatch(config({ url, caBundle }), client)).toBeUndefined();
  });

  test('is not written if it is up to date', () => {
    expect(extensionConfigPatch(config({ service: {}, caBundle }), { bundle })).toBeUndefined();
  });
});
