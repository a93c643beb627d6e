import type { Manifest } from '../../api/meta.ts';
import { placed } from './placed.ts';
import { action, onlyIf, templateHeader, templateText } from './template-text.ts';

interface Webhook {
  readonly rules: readonly { readonly apiGroups: readonly string[] }[];
}
type Configuration = Manifest & { readonly webhooks: readonly Webhook[] };

const isConfiguration = (manifest: Manifest): manifest is Configuration => 'webhooks' in manifest;

/** The webhook configurations and their Service as a template; each webhook under the switch of the half that it serves. */
export function webhookTemplate(manifests: readonly Manifest[]): string {
  return templateHeader + manifests.map((manifest) => `---\n${documentOf(manifest)}`).join('');
}

function documentOf(manifest: Manifest): string {
  if (!isConfiguration(manifest)) return templateText({ ...placed(manifest), spec: serviceSpec(manifest) });
  const { webhooks, ...head } = manifest;
  const entries = webhooks.map((webhook) => onlyIf(halfOf(webhook), templateText([placed(webhook)])));
  return `${templateText(placed(head))}webhooks:\n${entries.join('')}`;
}

/** Pods are selected by the labels of the release. */
function serviceSpec(manifest: Manifest): object {
  const { spec } = manifest as Manifest & { readonly spec: object };
  return { ...spec, selector: action('- include "steward.selectorLabels" . | nindent 4 ') };
}

const halfOf = ({ rules }: Webhook): string =>
  rules.some(({ apiGroups }) => apiGroups.includes('controlplane.cluster.x-k8s.io'))
    ? '.Values.clusterApi.enabled'
    : '.Values.tenantControlPlanes.enabled';
