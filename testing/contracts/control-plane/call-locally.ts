import type { KubernetesClient, PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';

/** Whose webhooks are called where. */
export interface LocalCall {
  /** Of the Services that the webhooks are behind, as installed. */
  readonly namespace: string;
  /** Of this host. */
  readonly port: number;
  /** Who signed the certificate there, PEM. */
  readonly authority: string;
}

interface ClientConfig {
  readonly service?: { readonly namespace?: string; readonly path?: string } | null;
  readonly url?: string;
}

/** Says of a configuration whose webhooks are called here already, and so have no Service anymore. */
const mark = 'contract.example.com/webhooks-of';

const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const;

/** Has the API server call a process of this host for all webhooks, those of conversion too, of the Services of a namespace. */
export async function callLocally(client: KubernetesClient, call: LocalCall): Promise<void> {
  const caBundle = Buffer.from(call.authority).toString('base64');
  const redirected = ({ service, url }: ClientConfig): object => {
    const path = service?.path ?? (url === undefined ? '' : new URL(url).pathname);
    return { url: `https://localhost:${call.port}${path}`, caBundle };
  };
  const isTheirs = ({ service }: ClientConfig): boolean => service?.namespace === call.namespace;
  const metadata = { annotations: { [mark]: call.namespace } };
  for (const kind of kinds) {
    const address = { apiVersion: 'admissionregistration.k8s.io/v1', kind };
    for (const found of await client.list(address.apiVersion, kind)) {
      const hooks = (found.webhooks ?? []) as readonly { readonly clientConfig: ClientConfig }[];
      const isMarked = found.metadata?.annotations?.[mark] === call.namespace;
      if (!isMarked && !hooks.some(({ clientConfig }) => isTheirs(clientConfig))) continue;
      const webhooks = hooks.map((hook) => ({ ...hook, clientConfig: redirected(hook.clientConfig) }));
      await client.merge({ ...address, name: nameOf(found) }, { metadata, webhooks });
    }
  }
  const address = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  for (const found of await client.list(address.apiVersion, address.kind)) {
    const conversion = found.spec?.conversion as { webhook?: { clientConfig?: ClientConfig } } | undefined;
    const clientConfig = conversion?.webhook?.clientConfig;
    if (clientConfig === undefined || !isTheirs(clientConfig)) continue;
    const local = { ...redirected(clientConfig), service: null };
    await client.merge(
      { ...address, name: nameOf(found) },
      { spec: { conversion: { webhook: { clientConfig: local } } } },
    );
  }
}

const nameOf = ({ metadata }: PlainObject): string => metadata?.name ?? '';
