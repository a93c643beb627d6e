import { clusterStackFieldManager } from '../../api/names.ts';
import type { KindRef, Manifest, Resource } from '../../../api/meta.ts';
import type { Applied } from '../../../runtime/apply/apply-memory.ts';
import { isStillApplied, rememberApplied } from '../../../runtime/apply/apply-memory.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { ProviderTemplate } from './components/provider-release.ts';
import { providerRelease, providerReleaseType } from './components/provider-release.ts';
import type { Dependencies } from './dependencies.ts';
import type { Scope } from './scope.ts';

const lookAgainMs = 60_000;

/** Keeps the provider's object of each release as the stack's template has it, and writes it only when it is not. */
export class ProviderReleases {
  readonly #deps: Dependencies;
  /** Of each stack, by kind and key. */
  readonly #applied: ObjectSlot<Map<string, Applied>>;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#applied = deps.memory.slot('provider releases of stacks');
  }

  /** One of each release that is wanted or kept. */
  async keep({ stack, plan }: Readonly<Scope>, { signal }: Context): Promise<Outcome<Scope>> {
    const { cluster, discovery } = this.#deps;
    const { noProvider, providerRef } = stack.spec;
    if (noProvider) return { is: 'done', message: 'the stack has no provider' };
    const { namespace } = stack.metadata;
    const { apiVersion = '', kind: templateKind = '', name = '' } = providerRef ?? {};
    const missing = (why: string): Outcome<Scope> => ({
      is: 'waiting',
      reason: 'ProviderTemplateNotFound',
      message: `spec.providerRef names ${templateKind} ${name} of ${apiVersion}: ${why}`,
      afterMs: lookAgainMs,
    });
    const type = providerReleaseType(apiVersion, templateKind);
    if (type === undefined) {
      return missing('its group must be infrastructure.clusterstack.x-k8s.io, and its kind must end in Template');
    }
    const kindOfTemplate = await discovery.find(apiVersion, templateKind, { signal });
    const kind = await discovery.find(type.apiVersion, type.kind, { signal });
    if (kindOfTemplate === undefined || kind === undefined) {
      return missing('its kinds are not installed; install the provider');
    }
    const template = await cluster.get<ProviderTemplate>(kindOfTemplate, { namespace, name }, { signal });
    if (template === undefined) return missing(`it does not exist in namespace ${namespace}; create it`);
    const names = [...(plan?.wanted.keys() ?? []), ...(plan?.kept ?? []).map(({ metadata }) => metadata.name)];
    const { uid } = stack.metadata;
    const applied = this.#applied.getOrMake(uid, () => new Map<string, Applied>());
    const ids = new Set<string>();
    for (const release of new Set(names)) {
      const manifest = providerRelease({ stack, template, type, release });
      ids.add(await this.#keepOne(kind, manifest, { applied, signal }));
    }
    // Provider releases that the stack no longer wants are not checked again.
    for (const id of applied.keys()) if (!ids.has(id)) applied.delete(id);
    return { is: 'done' };
  }

  /** Answers under which name it is remembered. */
  async #keepOne(
    kind: KindRef,
    manifest: Manifest,
    { applied, signal }: { readonly applied: Map<string, Applied>; readonly signal: AbortSignal },
  ): Promise<string> {
    const { cluster } = this.#deps;
    const { name, namespace = '' } = manifest.metadata;
    const id = `${kind.plural} ${namespace}/${name}`;
    const before = applied.get(id);
    const current: Resource | undefined = before && (await cluster.get(kind, { namespace, name }, { signal }));
    if (before !== undefined && current !== undefined && isStillApplied(before, manifest, current)) return id;
    const object = await cluster.apply(kind, manifest, { fieldManager: clusterStackFieldManager, signal });
    applied.set(id, rememberApplied(manifest, object));
    return id;
  }
}
