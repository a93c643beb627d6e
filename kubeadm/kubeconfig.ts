import { KubeconfigError, readKubeconfig } from '../api/kubeconfig.ts';
import { parseCertificates } from './pki/certificate-chain.ts';
import { evaluate } from './pki/evaluate.ts';
import type { Expectation } from './pki/evaluate.ts';
import type { KeyPair, Verdict } from './pki/key-pair.ts';
import { toYaml } from './to-yaml.ts';

/** The content of a kubeconfig with a client certificate. */
export interface Kubeconfig {
  readonly clusterName: string;
  /** `https://host:port`. */
  readonly server: string;
  /** PEM of the cluster's CA or CAs. */
  readonly ca: string;
  /** Name of the user's entry; kubeadm uses the certificate's common name. */
  readonly user: string;
  /** Name of the context; `<user>@<cluster>` by default. */
  readonly context?: string;
  readonly client: KeyPair;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/**
 * A kubeconfig (v1) as block YAML with a trailing newline and no document marker, so that files can be appended to one another. Certificates
 * and key are embedded.
 */
export function kubeconfig({ clusterName, server, ca, user, client, ...given }: Kubeconfig): string {
  const context = given.context ?? `${user}@${clusterName}`;
  return toYaml({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context,
    clusters: [{ name: clusterName, cluster: { server, 'certificate-authority-data': base64(ca) } }],
    contexts: [{ name: context, context: { cluster: clusterName, user } }],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
      },
    ],
  });
}

/** Reads the current context of a kubeconfig; absent parts are empty. Throws `KubeconfigError`. */
export function parseKubeconfig(content: string): Kubeconfig {
  const { cluster, user, access } = readKubeconfig(content);
  const { server, ca = '', clientCert = '', clientKey = '' } = access;
  return { clusterName: cluster, server, ca, user, client: { certificate: clientCert, key: clientKey } };
}

/** What a kubeconfig is evaluated against. */
export interface KubeconfigExpectation extends Expectation {
  readonly clusterName: string;
  readonly server: string;
  readonly ca: string;
}

/**
 * Decides whether a kubeconfig can be kept: it is for this cluster, server and CA, and its client certificate passes `evaluate`.
 * Throws `InvalidInputError` when the expectation's own `ca` cannot be read.
 */
export function evaluateKubeconfig(content: string | undefined, expectation: KubeconfigExpectation): Verdict {
  const renew = (reason: string, message: string): Verdict => ({ keep: false, reason, message });
  if (content === undefined || content === '') return renew('Missing', 'there is no kubeconfig yet');
  parseCertificates(expectation.ca, 'ca.crt');
  let found: Kubeconfig;
  try {
    found = parseKubeconfig(content);
  } catch (error) {
    if (error instanceof KubeconfigError) return renew('Malformed', error.message);
    throw error;
  }
  if (found.clusterName !== expectation.clusterName) {
    return renew('WrongCluster', `the kubeconfig names the cluster ${JSON.stringify(found.clusterName)}`);
  }
  if (found.server !== expectation.server) {
    return renew(
      'WrongServer',
      `the kubeconfig points to ${JSON.stringify(found.server)} instead of ${expectation.server}`,
    );
  }
  if (found.ca.trim() !== expectation.ca.trim()) {
    return renew('WrongAuthority', 'the kubeconfig embeds a CA other than the current one');
  }
  return evaluate(found.client, expectation);
}
