import { kinds } from '../../../api/core/kinds.ts';
import { agentNames } from '../../../controllers/tenantcontrolplane/addons/konnectivity/tunnel-is-missing.ts';
import { kindIn, preferredVersion } from '../../../controllers/tenantcontrolplane/encryption/served-kind.ts';
import { removedApis } from '../../../controllers/tenantcontrolplane/upgrade/removed-apis.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { KindDiscovery } from '../../../runtime/client/kind-discovery.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const to = parseVersion('v1.36.3');
const resources = [{ name: 'secrets', kind: 'Secret', namespaced: true }];

/** Metrics, agents and what an API server says it serves: which of them is chosen by the first byte. */
export const tenantAnswers: FuzzTarget = {
  name: 'tenant-answers',
  from: 'the API server of a tenant, or an extension API server behind another one',
  seeds: () => [
    'aapiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="",version="v1beta3"} 1',
    `b${JSON.stringify({ items: [{ metadata: { name: 'konnectivity-agent-1' } }] })}`,
    `c${JSON.stringify({ resources })}`,
    `c${JSON.stringify({ preferredVersion: { version: 'v1beta1' } })}`,
    `d${JSON.stringify({ resources })}`,
  ],
  refusals: [SyntaxError, UnreachableError],
  parse: async (input) => {
    const text = input.subarray(1).toString();
    switch ((input[0] ?? 0) % 4) {
      case 'a'.charCodeAt(0) % 4:
        for (const api of removedApis(text, to)) kept(/^[\w.+:/? -]{0,310}$/.test(api), 'an API can be shown');
        return;
      case 'b'.charCodeAt(0) % 4:
        for (const name of agentNames(text)) kept(!/[^a-z0-9.-]/.test(name), 'a name fits into a path');
        return;
      case 'c'.charCodeAt(0) % 4:
        kept(!/[^a-z0-9]/.test(preferredVersion(text) ?? ''), 'a version fits into a path');
        kept(!/[^A-Za-z0-9]/.test(kindIn(text, 'secrets', 'v1')?.kind ?? ''), 'a kind is a name');
        return;
      default: {
        const found = await new KindDiscovery({ text: () => Promise.resolve(text) }).find('v1', kinds.Secret.kind);
        kept(found === undefined || typeof found.plural === 'string', 'a kind has a plural');
      }
    }
  },
};
