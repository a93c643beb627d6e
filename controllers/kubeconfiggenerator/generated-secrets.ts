import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { Key, NamespacedResource, Resource } from '../../api/meta.ts';
import { annotations, dataKeys, generatedKubeconfig, labels, tenantObjects } from '../../api/names.ts';
import type { KubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { NotGeneratedError } from '../../kubeadm/client-kubeconfig.ts';
import { checksum } from '../../kubeadm/pki/checksum.ts';
import type { IssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { ObjectSlot } from '../../runtime/cache/object-slot.ts';
import { generatedSecret } from './components/generated-secret.ts';
import type { Dependencies } from './dependencies.ts';
import { generate } from './generate.ts';

const fieldManager = 'steward';

/** The Secrets of one generator without their content, by `namespace/name`. */
export type Present = ReadonlyMap<string, NamespacedResource>;

interface Verified {
  readonly inputs: string;
  readonly resourceVersion: string;
  readonly renewal: number;
}

/** What a kubeconfig depends on, as far as the tenant's status shows it without its Secrets. */
function inputsOf(generator: KubeconfigGenerator, { metadata, spec, status }: TenantControlPlane): string {
  return checksum({
    generator: `${generator.metadata.uid} ${generator.metadata.generation}`,
    tenant: JSON.stringify([metadata, spec, status?.controlPlaneEndpoint]),
    admin: status?.kubeconfig?.admin?.checksum ?? '',
    authority: status?.certificates?.ca?.checksum ?? '',
  });
}

const idOf = ({ namespace = '', name }: Key): string => `${namespace}/${name}`;

/**
 * The Secrets of generators. One that was found valid is not read again until it, or one of its inputs, changes: a
 * reconcile for a thousand unchanged tenants is one list.
 */
export class GeneratedSecrets {
  readonly #deps: Dependencies;
  readonly #issuers: IssuerPool;
  /** Of each generator, by UID of the Secret. */
  readonly #verified: ObjectSlot<Map<string, Verified>>;

  constructor(deps: Dependencies, issuers: IssuerPool) {
    this.#deps = deps;
    this.#issuers = issuers;
    this.#verified = deps.memory.slot('generated Secrets');
  }

  /** The Secrets of the generator. What is remembered of others is dropped: they went with their tenants, or someone removed them. */
  async of({ metadata }: KubeconfigGenerator, { signal }: Context): Promise<Present> {
    const labelSelector = `${labels.managedBy}=${metadata.name}`;
    const { items } = await this.#deps.cluster.list(kinds.Secret, { labelSelector, metadataOnly: true, signal });
    const present = new Set(items.map(({ metadata: { uid } }) => uid));
    const verified = this.#verified.get(metadata.uid);
    for (const uid of verified?.keys() ?? []) if (!present.has(uid)) verified?.delete(uid);
    return new Map(items.map((secret) => [idOf(keyOf(secret)), secret]));
  }

  /**
   * Keeps the kubeconfig for one tenant; answers when it must be renewed, in milliseconds since the epoch. Throws
   * `NotGeneratedError` when something is missing that it is made of, or its name is taken.
   */
  async keep(generator: KubeconfigGenerator, tcp: TenantControlPlane, present: Present, ctx: Context): Promise<number> {
    const { signal, now } = ctx;
    const { namespace, name: tenant } = tcp.metadata;
    const key = { namespace, name: generatedKubeconfig(tenant, generator.metadata.name) };
    const seen = present.get(idOf(key));
    const inputs = inputsOf(generator, tcp);
    const verified = this.#verified.getOrMake(generator.metadata.uid, () => new Map<string, Verified>());
    const known = knownOf(verified, seen, inputs);
    if (known !== undefined && known > now.getTime()) return known;
    const names = tenantObjects(tenant);
    const read = (name: string): Promise<Secret | undefined> =>
      this.#deps.cluster.get(kinds.Secret, { namespace, name }, { signal });
    const [admin, authority, current] = await Promise.all([
      read(names.adminKubeconfig),
      read(names.ca),
      seen === undefined ? undefined : read(key.name),
    ]);
    const rotate = current?.metadata.annotations?.[annotations.rotate] === '';
    const { kubeconfig, renewal } = await generate(
      {
        generator,
        tcp,
        admin,
        authority,
        present: kubeconfigOf(current),
        rotate,
        now,
        renewBeforeMs: this.#deps.renewBeforeMs,
      },
      this.#issuers,
    );
    const before = current?.metadata.annotations?.[annotations.rotate];
    const rotated = rotate ? now.toISOString().replace(/\.\d{3}Z$/, 'Z') : before;
    const manifest = generatedSecret({ tcp, generator: generator.metadata.name, kubeconfig, rotated });
    const isRight = current !== undefined && kubeconfigOf(current) === kubeconfig && !rotate;
    const stored = isRight ? current : await this.#write(manifest, current !== undefined, signal);
    const { uid, resourceVersion } = stored.metadata;
    verified.set(uid, { inputs, resourceVersion, renewal });
    return renewal;
  }

  /** Removes what is for no tenant in `selected`. */
  async prune(present: Present, selected: readonly TenantControlPlane[], { signal }: Context): Promise<void> {
    const wanted = new Set(selected.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
    for (const secret of present.values()) {
      const { labels: carried, uid } = secret.metadata;
      const key = keyOf(secret);
      const tenant = idOf({ ...key, name: carried?.[labels.managedFor] ?? '' });
      const isOurs =
        key.name === generatedKubeconfig(carried?.[labels.managedFor] ?? '', carried?.[labels.managedBy] ?? '');
      if (!isOurs || wanted.has(tenant)) continue;
      await this.#deps.cluster.delete(kinds.Secret, key, { signal, uid });
    }
  }

  async #write(manifest: ReturnType<typeof generatedSecret>, exists: boolean, signal: AbortSignal): Promise<Secret> {
    if (exists) return this.#deps.cluster.apply(kinds.Secret, manifest, { fieldManager, signal });
    try {
      // Never by apply: a Secret of that name without our label would be taken over. Two pairs of names may make one, such as
      // `a` and `b-c`, `a-b` and `c`: the first has it.
      return await this.#deps.cluster.create(kinds.Secret, manifest, { fieldManager, signal });
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'AlreadyExists') throw takenError(manifest.metadata.name);
      throw error;
    }
  }
}

/** The time of renewal of a Secret that was found right and is as it was then. */
function knownOf(
  verified: ReadonlyMap<string, Verified>,
  seen: Resource | undefined,
  inputs: string,
): number | undefined {
  const known = verified.get(seen?.metadata.uid ?? '');
  const isSame = known?.inputs === inputs && known.resourceVersion === seen?.metadata.resourceVersion;
  return isSame ? known.renewal : undefined;
}

function keyOf({ metadata: { namespace, name } }: NamespacedResource): Required<Key> {
  return { namespace, name };
}

function kubeconfigOf(secret: Secret | undefined): string | undefined {
  const value = secret?.data?.[dataKeys.generatedKubeconfig];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

function takenError(name: string): NotGeneratedError {
  return new NotGeneratedError(
    `Secret ${name} already exists and does not belong to this generator: rename the KubeconfigGenerator`,
  );
}
