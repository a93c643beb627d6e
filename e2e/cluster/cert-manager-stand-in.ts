import type { KubernetesClient, PlainObject } from './kubernetes-client.ts';
import { selfSignedCertificate } from './self-signed-certificate.ts';

const injectAnnotation = 'cert-manager.io/inject-ca-from';

/** A Certificate as far as the stand-in reads it. */
export interface CertificateRequest {
  readonly namespace: string;
  readonly name: string;
  readonly secretName: string;
  readonly dnsNames: readonly string[];
}

/** The Certificates (cert-manager.io/v1) among these manifests. */
export function certificatesIn(manifests: readonly PlainObject[]): readonly CertificateRequest[] {
  return manifests.flatMap((manifest) => {
    if (manifest.kind !== 'Certificate' || manifest.apiVersion?.startsWith('cert-manager.io/') !== true) return [];
    const { namespace = 'default', name = '' } = manifest.metadata ?? {};
    const { secretName, dnsNames } = manifest.spec as { secretName: string; dnsNames?: readonly string[] };
    return [{ namespace, name, secretName, dnsNames: dnsNames ?? [] }];
  });
}

/**
 * Stands in for cert-manager where only its CRDs are installed: every Certificate's Secret holds a pair that signs itself,
 * and its certificate is the CA wherever `cert-manager.io/inject-ca-from` requires it.
 */
export class CertManagerStandIn {
  readonly #client: KubernetesClient;

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /**
   * Makes the namespaces and Secrets of these Certificates, unless they exist. Do it before the pods that mount them
   * are made: a pod that misses a Secret is tried again only much later.
   */
  async issue(certificates: readonly CertificateRequest[]): Promise<void> {
    for (const { namespace, secretName, dnsNames, name } of certificates) {
      await this.#client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
      const address = { apiVersion: 'v1', kind: 'Secret', namespace, name: secretName };
      if ((await this.#client.read(address)) !== undefined) continue;
      const pair = await selfSignedCertificate(dnsNames);
      const data = {
        'tls.crt': base64(pair.certificate),
        'tls.key': base64(pair.privateKey),
        'ca.crt': base64(pair.certificate),
      };
      const annotations = { 'cert-manager.io/certificate-name': name };
      const metadata = { name: secretName, namespace, annotations };
      await this.#client.apply([{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data }]);
    }
  }

  /**
   * Writes CA bundles into CustomResourceDefinitions and webhook configurations that ask for one.
   * @returns how many objects were changed.
   */
  async inject(): Promise<number> {
    const kinds = [
      ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
      ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
      ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
    ] as const;
    const found = await Promise.all(kinds.map(([apiVersion, kind]) => this.#client.list(apiVersion, kind)));
    const cas = new Map<string, string | undefined>();
    let changed = 0;
    for (const object of found.flat()) {
      const source = object.metadata?.annotations?.[injectAnnotation];
      if (source === undefined) continue;
      if (!cas.has(source)) cas.set(source, await this.#caOf(source));
      const caBundle = cas.get(source);
      const patch = caBundle === undefined ? undefined : caPatch(object, caBundle);
      if (patch === undefined) continue;
      const { apiVersion = '', kind = '' } = object;
      await this.#client.merge({ apiVersion, kind, name: object.metadata?.name ?? '' }, patch);
      changed += 1;
    }
    return changed;
  }

  /** @param source `namespace/name` of a Certificate. */
  async #caOf(source: string): Promise<string | undefined> {
    const [namespace = '', name = ''] = source.split('/');
    const certificate = await this.#client.read({
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      namespace,
      name,
    });
    const secretName = (certificate?.spec as { secretName?: string } | undefined)?.secretName;
    if (secretName === undefined) return undefined;
    const secret = await this.#client.read({ apiVersion: 'v1', kind: 'Secret', namespace, name: secretName });
    return secret?.data?.['ca.crt'];
  }
}

/** The merge patch that gives an object this CA bundle; undefined when it has no place for one. */
export function caPatch(object: PlainObject, caBundle: string): Record<string, unknown> | undefined {
  if (object.kind === 'CustomResourceDefinition') {
    const conversion = object.spec?.conversion as { strategy?: string } | undefined;
    if (conversion?.strategy !== 'Webhook') return undefined;
    return { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } };
  }
  const webhooks = object.webhooks as { clientConfig: Record<string, unknown> }[] | undefined;
  return { webhooks: (webhooks ?? []).map((hook) => ({ ...hook, clientConfig: { ...hook.clientConfig, caBundle } })) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
