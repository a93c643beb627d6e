import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { kinds } from '../../../../api/core/kinds.ts';
import type { EndpointSlice } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { activatorComponent, annotations, labels } from '../../../../api/names.ts';
import { isAsleep } from '../../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import { isOfSelector } from './slice-of-selector.ts';
import type { Scope } from '../../scope.ts';
import { activatorSlices, endpointsOf, readyEndpoints } from './activator-slices.ts';
import { isWakeable } from './is-wakeable.ts';
import { wakesOnRequest } from './wakes-on-request.ts';

/** Until the slices of a control plane whose pods are ready are read again, in milliseconds. */
const servedMs = 250;

/** One that sleeps is looked at again within this time, in milliseconds: nothing reports that its slice was changed. */
const sleepsMs = 3_600_000;

/** When one that sleeps is looked at again: a little earlier than others that fell asleep with it. */
function lookAgainMs(uid: string): number {
  const share = createHash('sha256').update(uid).digest().readUInt32BE(0) / 2 ** 32;
  return Math.round(sleepsMs * (1 - share / 12));
}

/** Until a control plane without a port claims one again, in milliseconds. */
const claimAgainMs = 10 * 60_000;

/** Has calls reach the activator while the control plane sleeps, and until its own pods are reached. */
export async function waking(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const { ports, isPossible } = deps.waking;
  if (!isPossible || !wakesOnRequest(tcp)) {
    await endRequest(scope, deps, { ctx, isServed: true });
    if (ports.of(tcp.metadata) === undefined) return { is: 'done', learned: { activator: {} } };
    await deps.applySet(scope, sliceSet([]), ctx);
    await ports.release(tcp.metadata, ctx.signal);
    return { is: 'done', learned: { activator: {} } };
  }
  const claimed = await ports.claim({ ...tcp.metadata, recorded: tcp.status?.sleep?.port }, ctx.signal);
  if (claimed.port === undefined) {
    await endRequest(scope, deps, { ctx, isServed: true });
    return { is: 'done', learned: { activator: { trouble: claimed.trouble } }, afterMs: claimAgainMs };
  }
  return lead(scope, deps, { ctx, port: claimed.port });
}

/** Has calls reach the activator at this port of it, or not. */
async function lead(
  scope: Readonly<Scope>,
  deps: Dependencies,
  { ctx, port }: { readonly ctx: Context; readonly port: number },
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const service = needed(scope.service, 'service');
  const { name } = service.metadata;
  const found = await deps.cluster.list(kinds.EndpointSlice, {
    namespace: tcp.metadata.namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
    signal: ctx.signal,
  });
  const ours = found.items.filter(({ metadata }) => metadata.labels?.[labels.component] === activatorComponent);
  const isServed = found.items.some((slice) => isOfSelector(slice) && readyEndpoints(slice).length > 0);
  await endRequest(scope, deps, { ctx, isServed });
  const isLed = ours.some((slice) => endpointsOf(slice).length > 0);
  const sleeps = isWakeable(tcp);
  // Where nothing would wake it up, a call is refused at once.
  const leads = sleeps || (isLed && !isServed && !isAsleep(tcp));
  const pods = leads ? deps.waking.pods() : [];
  const manifests = activatorSlices(tcp, { service, port, pods });
  if (!isDeepStrictEqual(ours.map(led).sort(), manifests.map(led).sort()))
    await deps.applySet(scope, sliceSet(manifests), ctx);
  const isMissing = sleeps && pods.length === 0;
  const trouble = isMissing ? 'no pod of the activator is ready, so calls do not wake it up' : undefined;
  const isStarted = (scope.observed.deployment?.status?.readyReplicas ?? 0) > 0;
  return {
    is: 'done',
    learned: { activator: { port, nodes: nodesAt(ours), ...(trouble !== undefined && { trouble }) } },
    ...(sleeps && { afterMs: lookAgainMs(tcp.metadata.uid) }),
    ...(leads && !sleeps && isStarted && { afterMs: servedMs }),
  };
}

/** What is noted of the tenant's nodes. */
function nodesAt(slices: readonly EndpointSlice[]): string {
  return (
    slices.map(({ metadata }) => metadata.annotations?.[annotations.nodeAddresses] ?? '').find((one) => one !== '') ??
    ''
  );
}

const sliceSet = (manifests: readonly Manifest[]) => ({
  component: activatorComponent,
  manifests,
  prunes: [kinds.EndpointSlice],
});

/** Where a slice leads, and when, as text. */
function led(slice: Manifest | EndpointSlice): string {
  const {
    metadata,
    addressType,
    endpoints,
    ports: served,
  } = slice as Partial<EndpointSlice> & Pick<Manifest, 'metadata'>;
  const where = (endpoints ?? []).map(({ addresses, nodeName }) => [addresses, nodeName ?? '']);
  const early = metadata.annotations?.[annotations.passedEarly];
  return JSON.stringify([
    metadata.name,
    early,
    addressType,
    where,
    (served ?? []).map(({ name, port }) => [name, port]),
  ]);
}

/** Removes the request to wake up, once that is recorded and the pods are reached, or if it never will be granted. */
async function endRequest(
  { tcp, sleep }: Readonly<Scope>,
  deps: Dependencies,
  { ctx, isServed }: { readonly ctx: Context; readonly isServed: boolean },
): Promise<void> {
  const { requests, isPossible } = deps.waking;
  if (!isPossible) return;
  const { state, since } = sleep?.status ?? {};
  const isGranted = state === 'Awake' && isServed && Date.parse(since ?? '') < ctx.now.getTime() - 1000;
  const isCalled = requests.isCalled(tcp.metadata, ctx.now);
  const isWaiting = isCalled && state === 'Awake' && !isGranted;
  // It came after this reconcile had decided; the next one, which it has enqueued, decides about it.
  const isNew = isCalled && sleep?.isCalled !== true;
  if (!isWaiting && !isNew) await requests.clear(tcp.metadata, ctx.now, ctx.signal);
}
