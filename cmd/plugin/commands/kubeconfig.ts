import { userInfo } from 'node:os';
import { X509Certificate } from 'node:crypto';
import { Command, Option } from 'commander';
import { goDuration } from '../../../api/go-duration.ts';
import { readKubeconfig } from '../../../api/kubeconfig.ts';
import type { ServerAccess } from '../../../api/kubeconfig.ts';
import { clusterAdminsGroup } from '../../../kubeadm/pki/profiles.ts';
import { UsageError } from '../../flags/flags.ts';
import { kubeconfigPaths, readKubeconfigFiles } from '../connect/kubeconfig-files.ts';
import type { KubeconfigFiles } from '../connect/kubeconfig-files.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { readAdminKubeconfig } from '../control-plane/admin-kubeconfig.ts';
import { findControlPlane, requireLocal } from '../control-plane/find-control-plane.ts';
import { durationMs, listed, withConnection } from '../frame/shared-options.ts';
import type { ConnectionOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { mergeKubeconfig } from '../kubeconfig/merge-kubeconfig.ts';
import type { KubeconfigEntry } from '../kubeconfig/merge-kubeconfig.ts';
import { issueThroughTenant } from '../kubeconfig/request-certificate.ts';
import { updatePrivateFile } from '../kubeconfig/update-private-file.ts';

type Options = ConnectionOptions & {
  readonly longLived?: boolean;
  readonly duration: number;
  readonly user?: string;
  readonly group?: readonly string[];
  readonly internal?: boolean;
  readonly kubeconfigFile?: string;
  readonly contextName?: string;
  readonly use?: boolean;
  readonly overwrite?: boolean;
};

/** The shortest duration that the API server accepts. */
const shortestMs = 600_000;

/** `kubeconfig`: gives access to the tenant. */
export function kubeconfigCommand(world: World): Command {
  const command = new Command('kubeconfig')
    .summary('Get a kubeconfig for a control plane, valid for an hour.')
    .description(
      'Adds a context for the control plane to the kubeconfig that kubectl uses. The key is made on this machine. The certificate is ' +
        "issued by the control plane's own API (CertificateSigningRequest), for a user and groups of your choice; RBAC inside the " +
        'tenant says what they may do. This needs permission to read the Secret <name>-admin-kubeconfig.',
    )
    .argument('<name>', 'Name of the control plane.')
    .addOption(
      new Option('--duration <duration>', 'How long the certificate is valid; 10m at least.')
        .argParser(durationMs)
        .default(goDuration('1h'), '1h'),
    )
    .option('--user <name>', 'Name of the user. Defaults to your name on this machine.')
    .option('--group <names>', `Group of the user; may be repeated. Defaults to ${clusterAdminsGroup}.`, listed)
    .option('--long-lived', "Use the administrator's certificate from the Secret, which is valid for up to a year.")
    .option('--internal', 'Use the address of the Service inside the management cluster, not the endpoint.')
    .option(
      '--kubeconfig-file <path>',
      'File to change; - prints a kubeconfig instead. Defaults to the one that kubectl uses.',
    )
    .option('--context-name <name>', 'Name of the context. Defaults to <namespace>-<name>.')
    .option('--use', 'Make it the current context.')
    .option('--overwrite', 'Replace a cluster, user or context of the same name that belongs to something else.');
  return withConnection(command, '1m').action(async (name: string, options: Options) => {
    requireSensible(options);
    await using management = await connectManagement(world, options);
    const plane = requireLocal(await findControlPlane(name, management));
    const admin = await readAdminKubeconfig(plane, options.internal === true ? 'service' : 'endpoint', management);
    const { access } = readKubeconfig(admin);
    const user = options.longLived === true ? userOf(access) : await shortLived(access, options, management.signal);
    const entry: KubeconfigEntry = {
      name: options.contextName ?? `${plane.namespace}-${plane.name}`,
      cluster: { server: access.server, 'certificate-authority-data': base64(access.ca ?? '') },
      user,
    };
    const named = options.kubeconfigFile ?? options.kubeconfig;
    // A file that was named stands alone.
    const known = named === undefined ? readKubeconfigFiles(named, world) : undefined;
    const how = {
      use: options.use === true,
      overwrite: options.overwrite === true,
      // Of several files the first with a current context counts.
      hasCurrent: (known?.currentContext ?? '') !== '',
      ...(known !== undefined && { known }),
    };
    if (options.kubeconfigFile === '-') {
      world.out(mergeKubeconfig('', entry, how));
      return;
    }
    const paths = kubeconfigPaths(named, world);
    // As kubectl config does, an entry is changed where it is: in an earlier file, a new one would hide it.
    const path = paths.find((file) => hasEntry(known, file, entry.name)) ?? paths[0] ?? '';
    await updatePrivateFile(path, (content) => mergeKubeconfig(content, entry, how));
    world.note(`added context ${entry.name} to ${path}${validity(user)}`);
    world.note(`use it with: kubectl --context ${entry.name} get nodes`);
  });

  async function shortLived(access: ServerAccess, options: Options, signal: AbortSignal): Promise<Credentials> {
    const tenant = world.openCluster(access, 'tenant');
    try {
      const wanted = {
        user: options.user ?? localUser(),
        groups: options.group ?? [clusterAdminsGroup],
        seconds: Math.floor(options.duration / 1000),
      };
      const request = `kubectl-steward-${Buffer.from(world.random(8)).toString('hex')}`;
      const { certificate, key } = await issueThroughTenant(wanted, request, { tenant, clock: world.clock, signal });
      return { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
    } finally {
      await tenant.close();
    }
  }
}

/** Whether a file has anything of this name that counts. */
const hasEntry = (known: KubeconfigFiles | undefined, file: string, name: string): boolean =>
  known !== undefined &&
  [...known.clusters, ...known.users, ...known.contexts].some((entry) => entry.name === name && entry.file === file);

/** The credentials of a user's entry. */
interface Credentials {
  readonly 'client-certificate-data': string;
  readonly 'client-key-data': string;
  readonly [field: string]: unknown;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const userOf = ({ clientCert = '', clientKey = '' }: ServerAccess): Credentials => ({
  'client-certificate-data': base64(clientCert),
  'client-key-data': base64(clientKey),
});

function validity({ 'client-certificate-data': data }: Credentials): string {
  const [first] =
    /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/.exec(Buffer.from(data, 'base64').toString('utf8')) ??
    [];
  return first === undefined ? '' : `, valid until ${new X509Certificate(first).validToDate.toISOString()}`;
}

function localUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'kubectl-steward';
  }
}

function requireSensible(options: Options): void {
  const given = options.group ?? [];
  if (options.longLived === true && (options.user !== undefined || given.length > 0)) {
    throw new UsageError("--long-lived gives the administrator's certificate: leave out --user and --group");
  }
  if (options.duration < shortestMs) {
    throw new UsageError(`--duration must be 10m or more, which is the shortest that the API server accepts`);
  }
  if (given.includes('system:masters')) {
    throw new UsageError(`--group system:masters is never issued by the API: use ${clusterAdminsGroup}`);
  }
}
