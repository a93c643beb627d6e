import type { Resource } from '../../api/meta.ts';
import type { Patch } from '../client/cluster.ts';

/** The part of a Mutating- or ValidatingWebhookConfiguration that Steward reads and writes. */
export interface WebhookConfiguration extends Resource {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: {
      readonly caBundle?: string;
      readonly url?: string;
      readonly service?: { readonly path?: string };
    };
  }[];
}

/** Where the API server finds the rules, and whom it trusts there. */
export interface WebhookClient {
  /** PEM. */
  readonly bundle: string;
  /** For a manager outside of the cluster: replaces the Service, e.g. `https://10.0.0.1:9443`. Paths are kept. */
  readonly url?: string;
}

/** The JSON patch that gives every webhook of a configuration this client; undefined when all have it. */
export function clientConfigPatch(configuration: WebhookConfiguration, client: WebhookClient): Patch | undefined {
  const caBundle = Buffer.from(client.bundle).toString('base64');
  const body = (configuration.webhooks ?? []).flatMap(({ name, clientConfig }, n) => {
    const path = `/webhooks/${n}`;
    const guard = { op: 'test', path: `${path}/name`, value: name };
    if (client.url === undefined) {
      if (clientConfig.caBundle === caBundle) return [];
      return [guard, { op: 'add', path: `${path}/clientConfig/caBundle`, value: caBundle }];
    }
    const url = new URL(clientConfig.service?.path ?? pathOf(clientConfig.url), client.url).href;
    if (clientConfig.caBundle === caBundle && clientConfig.url === url) return [];
    return [guard, { op: 'replace', path: `${path}/clientConfig`, value: { url, caBundle } }];
  });
  return body.length === 0 ? undefined : { type: 'json', body };
}

function pathOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).pathname : '/';
}
