import { annotations, dataKeys } from '../../../api/names.ts';
import { evaluateKubeconfig, kubeconfig, parseKubeconfig } from '../../../kubeadm/kubeconfig.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { kubeconfigSecret, kubeconfigSecrets } from './kubeconfig-secrets.ts';
import type { KubeconfigFile, KubeconfigSecret, KubeconfigUser } from './kubeconfig-secrets.ts';
import { secretText } from '../shared/secret.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { Issuing, requested } from './issue-certificates.ts';
import { rotationRequested, rotationTime } from '../shared/rotate.ts';

interface Stored {
  readonly where: KubeconfigSecret;
  readonly data: Readonly<Record<string, string>>;
  readonly renewal: number;
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
  const { profile } = issuing.leaves[user];
  const clusterName = file.clusterName ?? issuing.tcp.metadata.name ?? '';
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

async function keep(where: KubeconfigSecret, issuing: Issuing, deps: Dependencies): Promise<Stored> {
  const { tcp, ctx } = issuing;
  const current = issuing.scope.observed.secrets.get(where.name);
  const present = secretText(current?.data);
  const clients = new Map<KubeconfigUser, Promise<KeyPair>>();
  // Both files of one user carry one certificate.
  const clientOf = (user: KubeconfigUser): Promise<KeyPair> => {
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
  return { where, data, renewal: Math.min(...files.map(({ renewal }) => renewal)) };
}

/** The kubeconfigs of administrators, of the manager, and of the pods' own programs. */
export async function kubeconfigs(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const issuing = new Issuing(scope, deps, ctx);
  const all = await Promise.all(
    kubeconfigSecrets(scope.tcp, issuing.endpoint).map((where) => keep(where, issuing, deps)),
  );
  const facts = all.map(
    ({ where, data }) => [where.component, { name: where.name, checksum: checksum(data) }] as const,
  );
  const admin = all.find(({ where }) => where.component === 'admin-kubeconfig')?.data ?? {};
  const key = scope.tcp.metadata.annotations?.[annotations.kubeconfigSecretKey];
  const byDefault = dataKeys.adminKubeconfig.superAdminService;
  return {
    is: 'done',
    learned: {
      kubeconfigFacts: Object.fromEntries(facts),
      kubeconfigRenewal: Math.min(...all.map(({ renewal }) => renewal)),
      operatorKubeconfig: admin[key ?? byDefault] ?? admin[byDefault] ?? '',
      superAdminKubeconfig: admin[dataKeys.adminKubeconfig.superAdmin] ?? '',
    },
  };
}
