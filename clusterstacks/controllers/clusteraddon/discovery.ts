import type { KindRef, Resource } from '../../../api/meta.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { WorkloadClient } from './workload/workload-budget.ts';

/** The kinds that a workload cluster serves, as far as they are needed; its answers are not trusted to have the right form. */
export class Discovery {
  readonly #cluster: Pick<WorkloadClient, 'text'>;
  readonly #signal: AbortSignal;
  readonly #served = new Map<string, Promise<readonly KindRef[]>>();

  constructor(cluster: Pick<WorkloadClient, 'text'>, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#signal = signal;
  }

  /** The kind of an object; undefined while the server does not know it. */
  async kindOf({ apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>): Promise<KindRef | undefined> {
    const served = await this.#kindsOf(apiVersion);
    return served.find((candidate) => candidate.kind === kind);
  }

  /**
   * What `.Capabilities.APIVersions` shows besides Helm's own: every version of every group, and the kinds of groups that are not
   * Kubernetes' own. A group that does not answer is left without kinds.
   */
  async apiVersions(): Promise<readonly string[]> {
    const versions = await this.#groupVersions();
    const own = versions.filter((version) => /^[^/]+\.[^/]+\//.test(version) && !/^[^/]*\.k8s\.io\//.test(version));
    const kinds = await Promise.all(own.slice(0, mostGroups).map((version) => this.#namesOf(version)));
    return [...versions, ...kinds.flat()].slice(0, mostNames).sort();
  }

  async #namesOf(version: string): Promise<readonly string[]> {
    try {
      return (await this.#kindsOf(version)).map(({ kind }) => `${version}/${kind}`);
    } catch (error) {
      if (error instanceof ApiError) return [];
      throw error;
    }
  }

  async #groupVersions(): Promise<readonly string[]> {
    const { groups } = recordOf(await this.#read('/apis'));
    return listOf(groups).flatMap((group) =>
      listOf(recordOf(group).versions).flatMap((version) => textsOf(recordOf(version).groupVersion)),
    );
  }

  #kindsOf(apiVersion: string): Promise<readonly KindRef[]> {
    let served = this.#served.get(apiVersion);
    if (served === undefined) {
      served = this.#readKinds(apiVersion);
      this.#served.set(apiVersion, served);
    }
    return served;
  }

  async #readKinds(apiVersion: string): Promise<readonly KindRef[]> {
    if (!isVersion(apiVersion)) return [];
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    try {
      const { resources } = recordOf(await this.#read(path));
      return listOf(resources).flatMap((resource) => kindFrom(apiVersion, recordOf(resource)));
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return [];
      throw error;
    }
  }

  async #read(path: string): Promise<unknown> {
    const text = await this.#cluster.text(path, { signal: this.#signal });
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new ApiError(
        502,
        'BadDiscovery',
        `the response of the workload cluster to ${path} is not JSON: ${String(error).slice(0, 80)}`,
      );
    }
  }
}

/** The largest number of groups whose kinds are read. */
const mostGroups = 64;
/** At most this many versions and kinds are passed to charts: they are arguments of a program. */
const mostNames = 1_000;

/** Subresources are not kinds of their own. */
function kindFrom(
  apiVersion: string,
  { name, kind, namespaced }: Readonly<Record<string, unknown>>,
): readonly KindRef[] {
  if (typeof name !== 'string' || typeof kind !== 'string' || !/^[a-z0-9.-]+$/.test(name)) return [];
  if (!/^[A-Za-z0-9]{1,63}$/.test(kind)) return [];
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return [{ group, version: apiVersion.slice(slash + 1), kind, plural: name, namespaced: namespaced === true }];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textsOf = (value: unknown): readonly string[] => (typeof value === 'string' && isVersion(value) ? [value] : []);

/** Only what is an API version gets into a path or into arguments of a program. */
const isVersion = (text: string): boolean => /^([a-z0-9.-]{1,253}\/)?[a-z0-9]{1,63}$/.test(text);
