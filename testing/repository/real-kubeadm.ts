import { X509Certificate as Decoded } from '@peculiar/x509';
import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { CertificateFacts, Production } from '../../kubeadm/deviations.ts';
import { parseVersion } from '../../kubeadm/versions.ts';
import { toYaml } from '../../kubeadm/to-yaml.ts';

const run = promisify(execFile);

/** The documents for `kubeadm --config`; `certificatesDir` and node name are filled in. */
export interface KubeadmCase {
  readonly initConfiguration: Readonly<Record<string, unknown>>;
  readonly clusterConfiguration: Readonly<Record<string, unknown>>;
}

/** What a real kubeadm produced for a case. */
export interface KubeadmRun {
  readonly production: Production;
  /** PEM of the CA that it put into cluster-info. */
  readonly ca: string;
  /** `kubeadm config images list`. */
  readonly images: readonly string[];
}

type Fields = Record<string, unknown>;

const authorities = ['ca', 'front-proxy-ca'] as const;
const leaves = ['apiserver', 'apiserver-kubelet-client', 'front-proxy-client'] as const;
const configs = ['admin.conf', 'super-admin.conf', 'controller-manager.conf', 'scheduler.conf'] as const;

/** Extensions whose value is made from a key. */
const keyIdentifiers = ['2.5.29.14', '2.5.29.35'];
const subjectAlternativeName = '2.5.29.17';

/** What a certificate and its key say; see `CertificateFacts`. */
export function certificateFacts(certificatePem: string, keyPem: string): CertificateFacts {
  const certificate = new X509Certificate(certificatePem);
  const decoded = new Decoded(certificatePem);
  const key = createPrivateKey(keyPem);
  const day = 24 * 60 * 60 * 1000;
  const { hash, ...signature } = decoded.signatureAlgorithm as { name: string; hash: { name: string } };
  return {
    subject: certificate.subject.split('\n').sort(),
    issuer: certificate.issuer,
    days: Math.round((certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / day),
    names: (certificate.subjectAltName ?? '').split(', ').filter(Boolean).sort(),
    extensions: decoded.extensions
      .map(({ type, critical, value }) => {
        const shown =
          type === subjectAlternativeName || keyIdentifiers.includes(type) ? '' : Buffer.from(value).toString('hex');
        return `${type}${critical ? ' critical' : ''} ${shown}`;
      })
      .sort(),
    keyAlgorithm: `${key.asymmetricKeyType ?? ''} ${key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyDetails?.modulusLength ?? ''}`,
    signatureAlgorithm: `${signature.name} ${hash.name}`,
    keyBlock: /BEGIN ([A-Z ]+)-/.exec(keyPem)?.[1] ?? '',
  };
}

/** A kubeconfig with its client certificate as facts; keys and signatures never agree. */
export function kubeconfigFacts(text: string): { readonly config: Fields; readonly client: CertificateFacts } {
  const config = parse(text) as { clusters: [{ cluster: Fields }]; users: [{ user: Fields }] };
  const decoded = (value: unknown): string => Buffer.from(String(value), 'base64').toString('utf8');
  const { 'client-certificate-data': certificate, 'client-key-data': key, ...user } = config.users[0].user;
  config.users[0].user = { ...user, 'client-certificate-data': 'present', 'client-key-data': 'present' };
  config.clusters[0].cluster['certificate-authority-data'] = 'present';
  return { config: { ...config }, client: certificateFacts(decoded(certificate), decoded(key)) };
}

const documents = ['ClusterConfiguration', 'kubelet', 'config.conf', 'kubeconfig.conf', 'kubeconfig'];

/** An object under its key, the documents in its data read. */
export function comparable(object: unknown): readonly [string, Fields] {
  const { kind, metadata, data, ...rest } = object as {
    kind: string;
    metadata: { name: string; namespace?: string };
    data?: Record<string, string>;
  };
  const key = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  if (data === undefined) return [key, { kind, metadata, ...rest }];
  const read = Object.entries(data).map(([name, text]) => [
    name,
    documents.includes(name) ? (parse(text) as unknown) : text,
  ]);
  return [key, { kind, metadata, data: Object.fromEntries(read) as unknown, ...rest }];
}

/** The objects that a phase would create, from what it prints under `--dry-run`. */
function createdObjects(output: string): unknown[] {
  const objects: unknown[] = [];
  const steps = output.split(/^\[dryrun\] Would perform action /m).filter((step) => step.startsWith('CREATE '));
  for (const step of steps) {
    const body = step.split(/^\[dryrun\] Attached object:\n/m)[1]?.split(/^\[/m)[0] ?? '';
    objects.push(parse(body.replace(/^\t/gm, '')));
  }
  return objects;
}

async function readPair(folder: string, name: string): Promise<CertificateFacts> {
  const [certificate, key] = await Promise.all([
    readFile(join(folder, `${name}.crt`), 'utf8'),
    readFile(join(folder, `${name}.key`), 'utf8'),
  ]);
  return certificateFacts(certificate, key);
}

/** `vX.Y.Z` of a kubeadm binary. */
export async function kubeadmVersion(binary: string): Promise<string> {
  return (await run(binary, ['version', '-o', 'short'])).stdout.trim();
}

/** All that `kubeadm init` does but certificates, kubeconfigs and what bootstrap tokens need. */
const besideBootstrap = [
  'preflight',
  'kubelet-start',
  'control-plane',
  'etcd',
  'upload-config',
  'upload-certs',
  'wait-control-plane',
  'mark-control-plane',
  'kubelet-finalize',
  'addon',
  'show-join-command',
];

/**
 * The minor from which on a dry run stays in the folder that it is told. Before, each run made one of its own below, and the
 * bootstrap-token phase looked for the administrator's kubeconfig there: only a run that makes it, too, gets that far.
 */
const dryRunFolderSince = 32;

/** Runs every phase of `kubeadm init` that makes certificates, kubeconfigs or objects, in a folder of its own and without a cluster. */
export async function runKubeadm(binary: string, given: KubeadmCase): Promise<KubeadmRun> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeadm-'));
  const pki = join(folder, 'pki');
  const conf = join(folder, 'conf');
  const config = join(folder, 'config.yaml');
  const env = { ...process.env, KUBEADM_INIT_DRYRUN_DIR: conf };
  const kubeadm = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(binary, [...args, '--config', config], { env, maxBuffer: 1 << 24 });
    return stdout.replaceAll(pki, '/etc/kubernetes/pki');
  };
  const phase = (...args: string[]): Promise<string> =>
    kubeadm('init', 'phase', ...args, '--dry-run', '--kubeconfig', join(conf, 'admin.conf'));
  const isOld = parseVersion(await kubeadmVersion(binary)).minor < dryRunFolderSince;
  const bootstrap = (): Promise<string> =>
    isOld ? kubeadm('init', '--dry-run', `--skip-phases=${besideBootstrap.join(',')}`) : phase('bootstrap-token');
  const caInUse = async (): Promise<string> => {
    if (!isOld) return readFile(join(pki, 'ca.crt'), 'utf8');
    const own = join(conf, 'tmp');
    const contents = await Promise.all(
      (await readdir(own)).map(async (name) => [name, await readdir(join(own, name))]),
    );
    const made = contents.find(([, names]) => names?.includes('ca.crt'))?.[0];
    if (typeof made !== 'string') throw new Error(`no dry run has left a CA in ${own}`);
    return readFile(join(own, made, 'ca.crt'), 'utf8');
  };
  try {
    const { initConfiguration, clusterConfiguration } = given;
    const cluster = { ...clusterConfiguration, certificatesDir: pki };
    await writeFile(config, `${toYaml(initConfiguration)}---\n${toYaml(cluster)}`);
    await kubeadm('init', 'phase', 'certs', 'all');
    await kubeadm('init', 'phase', 'kubeconfig', 'all', '--kubeconfig-dir', conf);
    const printed = [await phase('upload-config', 'all'), await bootstrap(), await phase('addon', 'all')].flatMap(
      createdObjects,
    );
    const certificates: Record<string, CertificateFacts> = {};
    for (const name of [...authorities, ...leaves]) certificates[name] = await readPair(pki, name);
    const kubeconfigs: Record<string, Fields> = {};
    for (const name of configs) {
      const { config: facts, client } = kubeconfigFacts(await readFile(join(conf, name), 'utf8'));
      kubeconfigs[name] = facts;
      certificates[name] = client;
    }
    return {
      production: { objects: Object.fromEntries(printed.map(comparable)), certificates, kubeconfigs },
      ca: await caInUse(),
      images: (await kubeadm('config', 'images', 'list')).trim().split('\n'),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
