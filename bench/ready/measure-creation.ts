import type { SecureContext } from 'node:tls';

import { dataKeys, tenantObjects } from '../../api/names.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { TimelineRecorder } from './milestones.ts';
import type { Milestone, Timeline } from './milestones.ts';
import type { Observer, Observation } from './observer.ts';
import { firstReadyz } from './readyz-poll.ts';
import { tenantCredentials } from './tenant-credentials.ts';

/** One control plane that is about to be created in an empty namespace. */
export interface Creation {
  readonly name: string;
  readonly namespace: string;
  readonly port: number;
  /** The client for `/readyz`; undefined: the super-admin of the kubeconfig that Steward creates. */
  readonly credentials: SecureContext | undefined;
  /** The measurement is over when these are reached. */
  readonly until: readonly Milestone[];
  /** Sends the create requests. */
  readonly create: () => Promise<unknown>;
}

/** A control plane on its way. */
class Watched {
  readonly #creation: Creation;
  readonly #recorder: TimelineRecorder;
  readonly #signal: AbortSignal;
  readonly #onComplete: () => void;
  readonly #polled = new Set<string>();
  #credentials: SecureContext | undefined;
  #clusterIp: string | undefined;
  #podIp: string | undefined;

  constructor(creation: Creation, recorder: TimelineRecorder, signal: AbortSignal, onComplete: () => void) {
    this.#creation = creation;
    this.#recorder = recorder;
    this.#signal = signal;
    this.#onComplete = onComplete;
    this.#credentials = creation.credentials;
  }

  see(observation: Observation): void {
    this.#recorder.see(observation);
    const { type, kind, object } = observation;
    // What goes belongs to a control plane before this one.
    if (type === 'DELETED') return;
    if (kind === 'Service') this.#clusterIp ??= text(object.spec?.clusterIP);
    if (kind === 'Pod') this.#podIp ??= text(object.status?.podIP);
    if (kind === 'Secret') this.#credentials ??= superAdmin(object, this.#creation.name);
    this.#poll(this.#clusterIp, true, 'Service answers /readyz');
    this.#poll(this.#podIp, false, 'pod answers /readyz');
    this.#check();
  }

  #poll(host: string | undefined, named: boolean, milestone: Milestone): void {
    const credentials = this.#credentials;
    if (host === undefined || credentials === undefined || this.#polled.has(host)) return;
    this.#polled.add(host);
    firstReadyz({ host, port: this.#creation.port, credentials, named }, this.#signal)
      .then((at) => {
        if (at === undefined) return;
        this.#recorder.reach(milestone, at);
        this.#check();
      })
      .catch((error: unknown) => {
        console.error(`${milestone}: ${String(error)}`);
      });
  }

  #check(): void {
    if (this.#creation.until.every((milestone) => this.#recorder.has(milestone))) this.#onComplete();
  }
}

/**
 * Creates a control plane and returns when it reached each milestone.
 * @throws Error that names what was not reached within `timeoutMs`.
 */
export async function measureCreation(
  observer: Observer,
  creation: Creation,
  options: { readonly timeoutMs: number; readonly diagnose: () => Promise<string> },
): Promise<Timeline> {
  const { timeoutMs, diagnose } = options;
  const ending = new AbortController();
  try {
    const recorder = new TimelineRecorder(performance.now());
    const complete = new Promise<boolean>((resolve) => {
      const watched = new Watched(creation, recorder, ending.signal, () => {
        resolve(true);
      });
      observer.listen(creation.namespace, ending.signal, (observation) => {
        watched.see(observation);
      });
      setTimeout(resolve, timeoutMs, false).unref();
    });
    await creation.create();
    recorder.reach('request answered', performance.now());
    if (await complete) return recorder.timeline;
    const missing = creation.until.filter((milestone) => !recorder.has(milestone)).join(', ');
    throw new Error(`${creation.name}: not reached in ${timeoutMs / 1000} s: ${missing}\n${await diagnose()}`);
  } finally {
    ending.abort();
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== 'None' ? value : undefined;
}

function superAdmin({ metadata, data }: PlainObject, tenant: string): SecureContext | undefined {
  if (metadata?.name !== tenantObjects(tenant).adminKubeconfig) return undefined;
  const kubeconfig = data?.[dataKeys.adminKubeconfig.superAdmin];
  return kubeconfig === undefined ? undefined : tenantCredentials(Buffer.from(kubeconfig, 'base64').toString());
}
