import type { Manifest } from '../../api/meta.ts';
import { partial, partialsHeader } from './partial.ts';

/** A webhook of config/, whose Service is that of the release in a chart. */
interface Webhook {
  readonly clientConfig: { readonly service: object };
  readonly rules: readonly { readonly apiGroups: readonly string[] }[];
}

const service = { name: '{{ include "steward.webhookServiceName" . }}', namespace: '{{ .Release.Namespace }}' };

/** `_webhooks.tpl`: the webhooks of manifests, by their kind and by the value that enables them; other manifests are left out. */
export function webhookPartials(manifests: readonly Manifest[]): string {
  const webhooks = manifests.flatMap((manifest) => {
    const type = manifest.kind.startsWith('Mutating') ? 'mutating' : 'validating';
    const { webhooks: found = [] } = manifest as Manifest & { readonly webhooks?: readonly Webhook[] };
    return found.map((webhook) => ({ webhook, name: `webhooks.${type}.${valueOf(manifest, webhook)}` }));
  });
  const partials = [...Map.groupBy(webhooks, ({ name }) => name)].map(([name, found]) =>
    partial(
      name,
      found.map(({ webhook: { clientConfig, ...rest } }) => ({
        ...rest,
        clientConfig: { ...clientConfig, service: { ...clientConfig.service, ...service } },
      })),
    ),
  );
  return `${partialsHeader}${partials.join('')}`;
}

function valueOf({ metadata }: Manifest, { rules }: Webhook): string {
  if (metadata.name.startsWith('steward-clusterstacks-')) return 'clusterStacks';
  const isClusterApi = rules.some(({ apiGroups }) => apiGroups.includes('controlplane.cluster.x-k8s.io'));
  return isClusterApi ? 'clusterApi' : 'tenantControlPlanes';
}
