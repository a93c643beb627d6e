import { evaluateKubeconfig, kubeconfig, parseKubeconfig } from '../../../kubeadm/kubeconfig.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import type { Dependencies } from '../dependencies.ts';
import { rotationRequested, rotationTime } from '../shared/rotate.ts';
import { secretText } from '../shared/secret.ts';
import type { Ensured } from './ensure-certificate.ts';
import { requested } from './issue-certificates.ts';
import type { Issuing } from './issue-certificates.ts';
import { kubeconfigSecret } from './kubeconfig-secrets.ts';
import type { KubeconfigFile, KubeconfigSecret } from './kubeconfig-secrets.ts';

/** Stored kubeconfigs, by the key in their Secret. */
export interface EnsuredKubeconfigs extends Ensured {
  readonly data: Readonly<Record<string, string>>;
}

interface File {
  readonly key: string;
  readonly content: string;
  readonly renewal: number;
}

/** One kubeconfig: the stored one if it is valid, otherwise a new one with the client certificate of its user. */
async function fileOf(
  file: KubeconfigFile,
  present: string | undefined,
  to: { readonly issuing: Issuing; readonly secret: string; readonly rotate: boolean; client(): Promise<KeyPair> },
): Promise<File> {
  const { issuing } = to;
  const { key, user, server } = file;
  const { profile } = issuing.leafOf(user);
  const clusterName = file.clusterName ?? issuing.tcp.metadata.name;
  const ca = issuing.authorities.trusted;
  const expected = { clusterName, server, ca, profile, now: issuing.ctx.now, thresholdMs: issuing.thresholdOf(user) };
  const verdict = to.rotate ? requested : evaluateKubeconfig(present, expected);
  if (verdict.keep && present !== undefined) {
    const renewal = issuing.renewalOf(user, parseKubeconfig(present).client.certificate);
    return { key, content: present, renewal };
  }
  if (!verdict.keep && present !== undefined) issuing.announce(`${key} in Secret ${to.secret}`, verdict);
  const client = await to.client();
  const content = kubeconfig({ clusterName, server, ca, user: profile.commonName, client });
  return { key, content, renewal: issuing.renewalOf(user, client.certificate) };
}

/** Keeps valid kubeconfigs; others are created and stored. */
export async function ensureKubeconfig(
  where: KubeconfigSecret,
  issuing: Issuing,
  deps: Dependencies,
): Promise<EnsuredKubeconfigs> {
  const { tcp, ctx } = issuing;
  const current = issuing.scope.observed.secrets.get(where.name);
  const present = secretText(current?.data);
  const clients = new Map<string, Promise<KeyPair>>();
  // Both files of one user carry one certificate.
  const clientOf = (user: string): Promise<KeyPair> => {
    const client = clients.get(user) ?? issuing.issue(user);
    clients.set(user, client);
    return client;
  };
  const rotate = rotationRequested(current);
  const files = await Promise.all(
    where.files.map((file) =>
      fileOf(file, present[file.key], { issuing, secret: where.name, rotate, client: () => clientOf(file.user) }),
    ),
  );
  const data = Object.fromEntries(files.map(({ key, content }) => [key, content]));
  await deps.apply(issuing.scope, kubeconfigSecret(tcp, where, { data, rotated: rotationTime(current, ctx.now) }), ctx);
  const { name, component } = where;
  const renewal = Math.min(...files.map((file) => file.renewal));
  return { component, fact: { name, checksum: checksum(data) }, renewal, data };
}
