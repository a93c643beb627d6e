import 'reflect-metadata';
import { KeyObject, webcrypto } from 'node:crypto';
import { cryptoProvider, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { kinds } from '../../../api/core/kinds.ts';
import type { CertificateSigningRequest } from '../../../api/core/kinds.ts';
import { subject } from '../../../kubeadm/pki/sign.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { privateKeyPem } from '../../../kubeadm/pki/private-key.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { sleep } from '../../../runtime/clock.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { pluginFieldManager } from '../control-plane/change-control-plane.ts';
import { PluginError } from '../frame/plugin-error.ts';

cryptoProvider.set(webcrypto);

/** Whose certificate is requested, and for how long. */
export interface CertificateFor {
  readonly user: string;
  readonly groups: readonly string[];
  readonly seconds: number;
}

/** The tenant that issues the certificate, and how long to wait for it. */
interface Asking {
  readonly tenant: Cluster;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Between two watches. */
const retryMs = 1_000;

/** The signer of client certificates that the API server accepts. kube-controller-manager signs them with the CA of the tenant. */
const signerName = 'kubernetes.io/kube-apiserver-client';

/** A new key (ECDSA P-256) and a request for a certificate of this user (RFC 2986). Both are PEM. */
export async function certificateRequest({
  user,
  groups,
}: Pick<CertificateFor, 'user' | 'groups'>): Promise<{ readonly key: string; readonly request: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const generated = await Pkcs10CertificateRequestGenerator.create({
    name: subject({ commonName: user, organizations: groups }).toString(),
    keys,
    signingAlgorithm: algorithm,
  });
  return { key: privateKeyPem(KeyObject.from(keys.privateKey)), request: `${generated.toString('pem')}\n` };
}

/**
 * Has the API of a tenant issue a client certificate: the key is made here and stays here, and the CA's key stays where it is.
 * `name` is the name of the CertificateSigningRequest, which Kubernetes deletes after an hour.
 * @throws PluginError if the request is refused.
 */
export async function issueThroughTenant(
  wanted: CertificateFor,
  name: string,
  { tenant, clock, signal }: Asking,
): Promise<KeyPair> {
  const { key, request } = await certificateRequest(wanted);
  const options = { fieldManager: pluginFieldManager, signal };
  await tenant.create(
    kinds.CertificateSigningRequest,
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        signerName,
        request: Buffer.from(request, 'utf8').toString('base64'),
        expirationSeconds: wanted.seconds,
        usages: ['client auth'],
      },
    },
    options,
  );
  const approved = {
    type: 'Approved',
    status: 'True',
    reason: 'KubectlSteward',
    message: 'requested with the kubeconfig of the administrator',
  };
  const approval = { type: 'merge', body: { status: { conditions: [approved] } } } as const;
  await tenant.patch(kinds.CertificateSigningRequest, { name }, approval, { ...options, subresource: 'approval' });
  return { key, certificate: readable(await untilSigned(name, { tenant, clock, signal }), name) };
}

/** The certificate, if it is one: the tenant decides what it answers. */
function readable(pem: string, request: string): string {
  try {
    return parseCertificates(pem, 'status.certificate').map(String).join('');
  } catch (cause) {
    throw noCertificate(request, cause);
  }
}

const noCertificate = (request: string, cause?: unknown): PluginError =>
  new PluginError(`the tenant answered CertificateSigningRequest ${request} with no certificate`, 1, { cause });

async function untilSigned(name: string, { tenant, clock, signal }: Asking): Promise<string> {
  for (;;) {
    for await (const event of tenant.watch(kinds.CertificateSigningRequest, {
      fieldSelector: `metadata.name=${name}`,
      signal,
    })) {
      const certificate = 'object' in event ? signed(event.object, name) : undefined;
      if (certificate !== undefined) return certificate;
    }
    // A tenant may end every watch at once.
    await sleep(clock, retryMs, signal);
  }
}

function signed({ status }: CertificateSigningRequest, name: string): string | undefined {
  const refused = status?.conditions?.find(({ type }) => type === 'Failed' || type === 'Denied');
  if (refused !== undefined) {
    throw new PluginError(`the tenant refused CertificateSigningRequest ${name}: ${refused.message ?? refused.type}`);
  }
  const certificate: unknown = status?.certificate;
  if (certificate === undefined) return undefined;
  if (typeof certificate !== 'string') throw noCertificate(name);
  return Buffer.from(certificate, 'base64').toString('utf8');
}
