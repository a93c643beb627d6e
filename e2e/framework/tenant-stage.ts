import { request as httpsRequest } from 'node:https';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { tenantObjects } from '../../api/names.ts';
import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { Expectation, ObjectAddress, PlainObject, WaitOptions } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { slowness } from '../cluster/slowness.ts';
import { minutes } from './minutes.ts';
import { lastLines } from '../cluster/machines/run-command.ts';

/** A condition as it is read. */
export interface SeenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The status of a TenantControlPlane as far as the scenarios read it. */
export interface TenantStatus {
  readonly controlPlaneEndpoint?: string;
  readonly conditions?: readonly SeenCondition[];
  readonly storage?: { readonly setup?: { readonly schema?: string; readonly user?: string } };
  readonly kubernetesResources?: {
    readonly version?: { readonly version?: string; readonly status?: string };
    readonly service?: { readonly port?: number };
  };
}

const group = 'steward.butlerlabs.dev';
const apiVersion = `${group}/v1alpha1`;

/** A TenantControlPlane as its author writes it; parts of the spec replace those of a small usual one. */
export function tenantManifest(
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
): PlainObject {
  return {
    apiVersion,
    kind: 'TenantControlPlane',
    metadata: { name, namespace },
    spec: {
      dataStore: 'default',
      controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: 'v1.36.3', kubelet: { cgroupfs: 'cgroupfs' } },
      ...spec,
    },
  };
}

/** What was seen of a condition. */
export function conditionOf(object: PlainObject | undefined, type: string): SeenCondition | undefined {
  return object?.status?.conditions?.find((condition) => condition.type === type);
}

/** An expectation of a condition: its status, and its reason when one is given. */
export function isCondition(
  type: string,
  status: string,
  reason?: string,
): (object: PlainObject | undefined) => boolean {
  return (object) => {
    const found = conditionOf(object, type);
    return found?.status === status && (reason === undefined || found.reason === reason);
  };
}

/** The tenants of one namespace of a management cluster, as a user sees them. */
export class TenantStage {
  readonly cluster: ManagementCluster;
  readonly namespace: string;

  constructor(cluster: ManagementCluster, namespace: string) {
    this.cluster = cluster;
    this.namespace = namespace;
  }

  /** Names an object of the namespace. */
  at(kind: string, name: string, version = 'v1'): ObjectAddress {
    return { apiVersion: version, kind, namespace: this.namespace, name };
  }

  tenant(name: string): ObjectAddress {
    return this.at('TenantControlPlane', name, apiVersion);
  }

  /** A manifest for this namespace, see {@link tenantManifest}. */
  manifest(name: string, spec: Readonly<Record<string, unknown>> = {}): PlainObject {
    return tenantManifest(this.namespace, name, spec);
  }

  /** Waits for a tenant; conditions, pods, Events and the manager's log are added to a time limit's message. */
  async waitFor(name: string, expected: Expectation, options: WaitOptions = {}): Promise<TenantStatus> {
    const found = await this.cluster.waitFor(this.tenant(name), expected, {
      timeoutMs: 120_000,
      diagnose: () => this.diagnose(name),
      ...options,
    });
    return found?.status ?? {};
  }

  /** Waits until an object is gone. */
  async gone(address: ObjectAddress, timeoutMs = 90_000): Promise<void> {
    const diagnose = (): Promise<string> => this.diagnose(address.name);
    await this.cluster.waitFor(address, (object) => object === undefined, { timeoutMs, diagnose, what: 'its end' });
  }

  /** All that helps to understand why a tenant is not as expected. */
  async diagnose(name: string): Promise<string> {
    const object = await this.cluster.client.read(this.tenant(name));
    const conditions = (object?.status?.conditions ?? []).map(
      ({ type, status, reason = '', message = '' }) => `  ${type}=${status} ${reason}: ${message}`,
    );
    const [pods, log] = await Promise.all([this.cluster.diagnose(this.namespace), this.managerLog()]);
    return [`--- conditions of ${name}`, ...conditions, '--- pods and warnings', pods, '--- manager', log].join('\n');
  }

  /** The last lines of the manager's log. */
  async managerLog(count = 25): Promise<string> {
    const args = ['-n', 'steward-system', 'logs', 'deployment/steward-controller-manager', `--tail=${count}`];
    return this.cluster.kubectl(args).then(
      ({ stdout }) => lastLines(stdout, count),
      (error: unknown) => (error as Error).message,
    );
  }

  /** The names of a tenant's pods, with their uids and how often their containers were restarted. */
  async pods(name: string): Promise<readonly PlainObject[]> {
    return this.cluster.client.list('v1', 'Pod', this.namespace, `${group}/name=${name}`);
  }

  /** Waits until a tenant has no pods anymore: those that end still answer. */
  async untilNoPods(name: string, timeoutMs = 2 * minutes): Promise<void> {
    for (const latest = performance.now() + timeoutMs; (await this.pods(name)).length > 0;) {
      if (performance.now() > latest) throw new Error(`${name} still has pods.\n${await this.diagnose(name)}`);
      await pause(200);
    }
  }

  /** The slice by which the Service of a tenant leads to the activator. */
  activatorSlice(name: string): ObjectAddress {
    return this.at('EndpointSlice', `${name}-ipv4-activator`, 'discovery.k8s.io/v1');
  }

  /** The decoded values of a Secret. */
  async secret(name: string): Promise<Readonly<Record<string, string>>> {
    const found = await this.cluster.client.read(this.at('Secret', name));
    if (found === undefined) throw new Error(`There is no Secret ${this.namespace}/${name}.`);
    return Object.fromEntries(
      Object.entries(found.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }

  /** One of a tenant's kubeconfigs, such as `admin.conf`. */
  async kubeconfig(tenant: string, key = 'admin.conf'): Promise<string> {
    const content = (await this.secret(tenantObjects(tenant).adminKubeconfig))[key];
    if (content === undefined) throw new Error(`The kubeconfigs of ${tenant} lack ${key}.`);
    return content;
  }

  /** A client of a tenant's API server. */
  async open(tenant: string, key = 'admin.conf'): Promise<KubernetesClient> {
    return new KubernetesClient(await this.kubeconfig(tenant, key));
  }

  /** Writes a kubeconfig of a tenant where kubectl finds it, and returns the path. */
  async kubeconfigFile(tenant: string, key = 'admin.conf'): Promise<string> {
    const file = path.join(this.cluster.harness.folder, `${this.namespace}-${tenant}-${key}`);
    await writeFile(file, await this.kubeconfig(tenant, key), { mode: 0o600 });
    return file;
  }

  /** Notes of the Events about an object, as `reason: note`, oldest first. */
  async events(name: string): Promise<readonly string[]> {
    const events = await this.cluster.client.list('events.k8s.io/v1', 'Event', this.namespace);
    const about = events as readonly (PlainObject & {
      regarding?: { name?: string };
      reason?: string;
      note?: string;
    })[];
    return about
      .filter(({ regarding }) => regarding?.name === name)
      .map(({ reason = '', note = '' }) => `${reason}: ${note}`);
  }

  /** Why the API server refuses a manifest on `apply --dry-run=server`; undefined when it takes it. */
  async refusal(manifest: PlainObject): Promise<string | undefined> {
    return this.cluster.kubectl(['apply', '--dry-run=server', '-f', '-'], { input: JSON.stringify(manifest) }).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
  }
}

/** What an API server says at `/version` to somebody who knows nothing but its authority. */
export async function versionAt(endpoint: string, ca: string): Promise<string> {
  return ((await documentAt(endpoint, ca, '/version')) as { gitVersion: string }).gitVersion;
}

/** What an API server answers to everyone, without a login. */
export async function documentAt(endpoint: string, ca: string, at: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = httpsRequest(
      `https://${endpoint}${at}`,
      { ca, signal: AbortSignal.timeout(Math.ceil(30_000 * slowness())) },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => {
          resolve(JSON.parse(text));
        });
      },
    );
    asked.on('error', (cause) => {
      reject(new Error(`${endpoint} does not answer`, { cause }));
    });
    asked.end();
  });
}
