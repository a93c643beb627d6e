import { kinds } from '../../../../api/core/kinds.ts';
import { isFirstSpec } from '../../../../api/steward/v1alpha1/is-first-spec.ts';
import type { Addon } from '../addon.ts';

/** A ConfigMap from which development tools learn the registry of the tenant (KEP-1755). */
export const localRegistry: Addon<'localRegistry'> = {
  name: 'localRegistry',
  inside: {
    component: 'local-registry',
    kinds: [kinds.ConfigMap],
    isLeft: ({ tcp }) => !isFirstSpec(tcp),
    wanted({ tcp }) {
      const { host, help } = tcp.spec.addons.localRegistry ?? {};
      const lines = Object.entries({ host, help }).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}: ${JSON.stringify(value)}\n`],
      );
      const manifest = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'kube-public', name: 'local-registry-hosting' },
        data: { 'localRegistryHosting.v1': lines.join('') },
      };
      return { set: { manifests: [manifest] } };
    },
  },
};
