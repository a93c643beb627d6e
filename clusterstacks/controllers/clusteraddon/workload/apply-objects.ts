import {
  clusterStackFieldManager,
  clusterStackLabels,
  generatedAnnotation,
  ownedInstance,
} from '../../../api/names.ts';
import type { KindRef, Manifest, Resource } from '../../../../api/meta.ts';
import type { Applied } from '../../../../runtime/apply/apply-memory.ts';
import { isDrift, isSameManifest, isStillApplied, rememberApplied } from '../../../../runtime/apply/apply-memory.ts';
import { messageOf } from '../../../../runtime/reconcile/conditions.ts';
import { ApiError, TerminalError, UnreachableError } from '../../../../runtime/client/errors.ts';
import { explainRefusal, refusalReasons } from '../../../../runtime/client/explain-refusal.ts';
import { describe, identityOf, keyOf } from '../../../../runtime/cache/object-id.ts';
import type { Discovery } from '../discovery.ts';
import type { Renderings } from '../../../sources/generated-parts.ts';
import { digestOf } from '../../../sources/generated-parts.ts';
import { installOrder, isDefinition } from './install-order.ts';
import { recreateAnnotation } from '../names.ts';
import { shortened } from '../shortened.ts';
import type { WorkloadClient } from './workload-budget.ts';
import { driftMs } from '../addon-memory.ts';

/** Where and how a stage's objects are applied. */
export interface ApplyTarget {
  readonly cluster: WorkloadClient;
  readonly discovery: Discovery;
  /** What was applied before, by identity: an unchanged object is not sent again. */
  readonly memory: Map<string, Applied>;
  /** Objects that are not checked again in this pass, and since when, in milliseconds. */
  readonly passed: Map<string, number>;
  readonly now: Date;
  /** Whether what cannot be changed may be deleted and recreated, of the kinds where that loses nothing. */
  readonly recreates: boolean;
  /** A new value regenerates what is generated. */
  readonly regeneration: string;
  readonly signal: AbortSignal;
}

/** One object that is not as it should be. */
export interface Failure {
  readonly object: Manifest;
  readonly message: string;
  /** Its kind, or the kind's definition, may be there soon. */
  readonly isPending: boolean;
}

/** The result of applying. */
export interface ApplyOutcome {
  readonly failures: readonly Failure[];
  /** Objects that someone had changed or deleted. */
  readonly drifted: readonly Manifest[];
}

/** The namespace of objects that name none, and that charts are rendered for. */
export const addonNamespace = 'kube-system';

/** Kinds without state: deleted and recreated, they are as they were. */
const recreated: ReadonlySet<string> = new Set(['Job', 'DaemonSet', 'Deployment']);

/**
 * Applies what a stage renders, in Helm's order, definitions first. Objects of a kind that is not served yet fail as pending and
 * keep no other from being applied. What was made by chance is sent only as a whole, and only while it is not there as a whole.
 * Throws `UnreachableError` when the cluster does not answer.
 */
export async function applyObjects(
  { stable, generated, generatedDigest }: PlacedRenderings,
  target: ApplyTarget,
): Promise<ApplyOutcome> {
  const prefix = `${digestOf([generatedDigest, target.regeneration])}.`;
  const keeps = await isKept(generated, prefix, target);
  const mark = `${prefix}${digestOf(generated.map(({ manifest }) => manifest))}`;
  const wanted = [...stable, ...(keeps ? [] : generated.map((one) => withMark(one, mark)))];
  const kindOf = new Map(wanted.map(({ manifest, kind }) => [manifest, kind]));
  const failures: Failure[] = [];
  const drifted: Manifest[] = [];
  for (const group of installOrder(wanted.map(({ manifest }) => manifest))) {
    const results = await Promise.all(group.map((one) => applyOne(one, kindOf.get(one), target)));
    failures.push(...results.flatMap(({ failure }) => failure ?? []));
    drifted.push(...results.filter((result) => result.drifted).map(({ manifest }) => manifest));
    // What comes with definitions needs them.
    if (group.some(isDefinition) && failures.length > 0) break;
  }
  return { failures, drifted };
}

/** An object with the kind that the workload cluster serves it as; without one while it does not. */
export interface Placed {
  readonly manifest: Manifest;
  readonly kind: KindRef | undefined;
}

/** A stage's renderings as they are sent. */
export interface PlacedRenderings {
  readonly stable: readonly Placed[];
  readonly generated: readonly Placed[];
  readonly generatedDigest: string;
}

/** Finds the kind of each object, and puts it into its namespace: `kube-system` where it names none. */
export async function placeRenderings(renderings: Renderings, discovery: Discovery): Promise<PlacedRenderings> {
  const place = (manifests: readonly Manifest[]): Promise<readonly Placed[]> =>
    Promise.all(
      manifests.map(async (manifest) => {
        const kind = await discovery.kindOf(manifest);
        return { kind, manifest: placed(manifest, kind?.namespaced ?? false) };
      }),
    );
  const { stable, generated, generatedDigest } = renderings;
  return { stable: await place(stable), generated: await place(generated), generatedDigest };
}

function placed(manifest: Manifest, isNamespaced: boolean): Manifest {
  const { namespace, ...metadata } = manifest.metadata;
  const labels = { ...metadata.labels, [clusterStackLabels.instance]: ownedInstance };
  const inside = isNamespaced ? { namespace: namespace ?? addonNamespace } : {};
  return { ...manifest, metadata: { ...metadata, ...inside, labels } };
}

interface Result {
  readonly manifest: Manifest;
  readonly drifted: boolean;
  readonly failure?: Failure;
}

async function applyOne(manifest: Manifest, kind: KindRef | undefined, target: ApplyTarget): Promise<Result> {
  const failed = (message: string, isPending = false): Result => {
    return { manifest, drifted: false, failure: { object: manifest, message: shortened(message), isPending } };
  };
  if (kind === undefined) {
    return failed(`${manifest.apiVersion} ${manifest.kind} is not served by the workload cluster yet`, true);
  }
  if (hasPassed(manifest, target)) return { manifest, drifted: false };
  try {
    const sent = await send(manifest, kind, target);
    if (isDefinition(manifest) && !isEstablished(sent.object)) {
      return failed('the definition is not established yet', true);
    }
    target.passed.set(identityOf(manifest), target.now.getTime());
    return { manifest, drifted: sent.drifted };
  } catch (error) {
    if (error instanceof UnreachableError || target.signal.aborted) throw error;
    if (!(error instanceof ApiError) && !(error instanceof TerminalError)) throw error;
    return failed(messageOf(error));
  }
}

/** When a reconcile ends early, the next one continues behind what was applied; starting over, it would never get further. */
function hasPassed(manifest: Manifest, { memory, passed, now }: ApplyTarget): boolean {
  const identity = identityOf(manifest);
  const [before, at] = [memory.get(identity), passed.get(identity)];
  return before !== undefined && at !== undefined && now.getTime() - at < driftMs && isSameManifest(before, manifest);
}

interface Sent {
  readonly object: Resource;
  readonly drifted: boolean;
}

async function send(manifest: Manifest, kind: KindRef, target: ApplyTarget): Promise<Sent> {
  const { cluster, memory, signal } = target;
  const identity = identityOf(manifest);
  const before = memory.get(identity);
  const current = before && (await cluster.get(kind, keyOf(manifest), { signal }));
  if (before !== undefined && current !== undefined && isStillApplied(before, manifest, current)) {
    return { object: current, drifted: false };
  }
  memory.delete(identity);
  const object = await applyOrRecreate(manifest, kind, target);
  memory.set(identity, rememberApplied(manifest, object));
  const drifted = before !== undefined && isSameManifest(before, manifest) && isDrift(before, object, current);
  return { object, drifted };
}

async function applyOrRecreate(manifest: Manifest, kind: KindRef, target: ApplyTarget): Promise<Resource> {
  const { cluster, signal } = target;
  const apply = (): Promise<Resource> =>
    cluster.apply(kind, manifest, { fieldManager: clusterStackFieldManager, signal }).catch((error: unknown) => {
      throw explainRefusal(manifest, error);
    });
  try {
    return await apply();
  } catch (error) {
    if (!(error instanceof TerminalError) || error.reason !== refusalReasons.immutableField) throw error;
    if (!recreated.has(manifest.kind)) throw error;
    if (!target.recreates && manifest.metadata.annotations?.[recreateAnnotation] !== 'true') {
      const help = `${error.message}; or annotate the ClusterAddon with ${recreateAnnotation}=true to let the manager recreate it`;
      throw new TerminalError(error.reason, help, { cause: error });
    }
    const current = await cluster.get(kind, keyOf(manifest), { signal });
    const uid = current?.metadata.uid;
    const options = { propagation: 'Background', signal, uid } as const;
    await cluster.delete(kind, keyOf(manifest), options);
    return apply();
  }
}

function isEstablished(definition: Resource): boolean {
  const { status } = definition as { readonly status?: { readonly conditions?: readonly unknown[] } };
  return (status?.conditions ?? []).some((condition) => {
    const { type, status: is } = condition as { readonly type?: unknown; readonly status?: unknown };
    return type === 'Established' && is === 'True';
  });
}

/**
 * True while all random parts exist, from one rendering, and their inputs have not changed: then they are not touched. A
 * missing one could not be generated alone, because a certificate fits only its own CA.
 */
async function isKept(
  generated: readonly Placed[],
  prefix: string,
  { cluster, signal }: ApplyTarget,
): Promise<boolean> {
  const marks = await Promise.all(
    generated.map(async ({ manifest, kind }) => {
      const current = kind && (await cluster.get(kind, keyOf(manifest), { signal }));
      return current?.metadata.annotations?.[generatedAnnotation];
    }),
  );
  const [first = prefix] = marks;
  return first.startsWith(prefix) && marks.every((mark) => mark === first);
}

function withMark({ manifest, kind }: Placed, mark: string): Placed {
  const annotations = { ...manifest.metadata.annotations, [generatedAnnotation]: mark };
  return { kind, manifest: { ...manifest, metadata: { ...manifest.metadata, annotations } } };
}

/** A failure as text. */
export function failureText({ object, message }: Failure): string {
  return message.includes(object.metadata.name) ? message : `${describe(object)}: ${message}`;
}
