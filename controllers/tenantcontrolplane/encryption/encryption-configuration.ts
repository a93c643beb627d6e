import { providerId } from './provider.ts';
import type { Provider } from './provider.ts';
import type { EncryptionState } from './encryption-state.ts';

/** The folder of the sockets of plugins, in kube-apiserver and in the plugins' containers. */
export const kmsFolder = '/run/kms';

/** The encryption keys in base64, by the id of their provider. */
export type EncryptionKeys = ReadonlyMap<string, string>;

function providerEntry(resource: string, provider: Provider, keys: EncryptionKeys): Readonly<Record<string, unknown>> {
  if (provider.kind === 'identity') return { identity: {} };
  if (provider.kind === 'kms') {
    const { name, timeoutSeconds = 3 } = provider;
    const endpoint = `unix://${kmsFolder}/${name}.sock`;
    // kube-apiserver refuses a configuration in which two resources have a plugin of the same name.
    return { kms: { apiVersion: 'v2', name: `${name}-${resource}`, endpoint, timeout: `${timeoutSeconds}s` } };
  }
  const secret = keys.get(providerId(provider));
  if (secret === undefined) throw new Error(`there is no encryption key ${providerId(provider)}`);
  return { [provider.kind]: { keys: [{ name: provider.name, secret }] } };
}

/**
 * The EncryptionConfiguration of kube-apiserver
 * (https://kubernetes.io/docs/tasks/administer-cluster/encrypt-data), which contains the keys; undefined when nothing is encrypted.
 */
export function encryptionConfiguration({ resources }: EncryptionState, keys: EncryptionKeys): string | undefined {
  if (resources.length === 0) return undefined;
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: resources.map(({ resource, readers }) => ({
      resources: [resource],
      providers: readers.map(({ provider }) => providerEntry(resource, provider, keys)),
    })),
  });
}
