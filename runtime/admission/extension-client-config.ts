import type { CapiExtensionConfig } from '../../api/cluster-api/kinds.ts';
import type { Patch } from '../client/cluster.ts';
import type { WebhookClient } from './webhook-client-config.ts';

/** The patch that gives an ExtensionConfig this client; undefined when it has it. Paths are kept, in front of those of the hooks. */
export function extensionConfigPatch(
  { spec }: CapiExtensionConfig,
  { bundle, url: base }: WebhookClient,
): Patch | undefined {
  const had = spec?.clientConfig ?? {};
  const caBundle = Buffer.from(bundle).toString('base64');
  if (base === undefined) return had.caBundle === caBundle ? undefined : merge({ caBundle });
  const url = new URL(had.service?.path ?? pathOf(had.url), base).href;
  if (had.caBundle === caBundle && had.url === url) return undefined;
  return merge({ caBundle, url, service: null });
}

function merge(clientConfig: Readonly<Record<string, unknown>>): Patch {
  return { type: 'merge', body: { spec: { clientConfig } } };
}

function pathOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).pathname : '/';
}
