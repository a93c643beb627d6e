import { KubeconfigError } from '../../../api/kubeconfig.ts';
import type { CredentialProgram } from '../frame/world.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The part of a cluster's entry that is passed to a credential program. */
export interface ExecCluster {
  readonly server?: unknown;
  readonly 'certificate-authority-data'?: unknown;
  readonly 'tls-server-name'?: unknown;
}

const group = 'client.authentication.k8s.io';
const versions = [`${group}/v1`, `${group}/v1beta1`];

/**
 * The program of `exec` in a user's entry, and how it is started
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
 * @throws KubeconfigError
 */
export function credentialProgram(
  exec: unknown,
  where: string,
  { cluster, interactive }: { readonly cluster: ExecCluster; readonly interactive: boolean },
): CredentialProgram {
  if (!isFields(exec) || typeof exec.command !== 'string' || exec.command === '') {
    throw new KubeconfigError(`kubeconfig: ${where}: exec: command is missing`);
  }
  const apiVersion = exec.apiVersion;
  if (typeof apiVersion !== 'string' || !versions.includes(apiVersion)) {
    throw new KubeconfigError(
      `kubeconfig: ${where}: exec: apiVersion ${JSON.stringify(apiVersion)} is not one of ${versions.join(', ')}; update the program that wrote it`,
    );
  }
  const args = Array.isArray(exec.args) ? (exec.args as readonly unknown[]).map(String) : [];
  const given = Array.isArray(exec.env) ? (exec.env as readonly unknown[]).filter(isFields) : [];
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(exec.provideClusterInfo === true && { cluster: { ...cluster } }) },
  };
  return {
    command: exec.command,
    args,
    environment: {
      ...Object.fromEntries(given.map(({ name, value }) => [String(name), String(value)])),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    },
  };
}

/**
 * The fields of a user's entry that a credential program has printed.
 * @throws KubeconfigError, which does not repeat what it printed.
 */
export function readExecCredential(text: string, where: string): Fields {
  const status = statusOf(text);
  const value = (field: string): string | undefined => {
    const found = status?.[field];
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  const [token, certificate, key] = [value('token'), value('clientCertificateData'), value('clientKeyData')];
  if (token === undefined && (certificate === undefined || key === undefined)) {
    throw new KubeconfigError(
      `kubeconfig: ${where}: exec: the program printed no ExecCredential with a token or a client certificate; run it yourself to see why`,
    );
  }
  const base64 = (pem: string): string => Buffer.from(pem, 'utf8').toString('base64');
  return {
    ...(token !== undefined && { token }),
    ...(certificate !== undefined &&
      key !== undefined && { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }),
  };
}

function statusOf(text: string): Fields | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isFields(read) && read.kind === 'ExecCredential' && isFields(read.status) ? read.status : undefined;
  } catch {
    return undefined;
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
