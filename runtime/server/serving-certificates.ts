import { kinds, type Secret } from '../../api/core/kinds.ts';
import type { Key, KindRef, Resource } from '../../api/meta.ts';
import type { ServingPair } from '../admission/admission-server.ts';
import type { Clock } from '../clock.ts';
import type { Cluster, Patch } from '../client/cluster.ts';
import { messageOf } from '../reconcile/conditions.ts';
import { ApiError } from '../client/errors.ts';
import type { HealthCheck } from '../observe/health-check.ts';
import type { InformerFactory } from '../cache/informer-factory.ts';
import type { Logger } from '../observe/logger.ts';
import { textOf } from '../cache/object-id.ts';
import {
  defaultServingLife,
  makeServingMaterial,
  renewalOf,
  whyNotServing,
  type ServingLife,
  type ServingMaterial,
  type ServingNames,
} from './serving-pair.ts';
import type { WebhookClient } from '../admission/webhook-client-config.ts';
import { clientConfigPatch } from '../admission/webhook-client-config.ts';

/** An object that configures other clients of this server than API servers. */
export interface FurtherClient {
  readonly kind: KindRef;
  readonly name: string;
  /** What gives the object this client; undefined when it has it. */
  readonly patch: (object: Resource, client: WebhookClient) => Patch | undefined;
}

export interface ServingCertificatesOptions {
  /** Not guarded by leadership: every replica serves. */
  readonly cluster: Cluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** The common Secret of all replicas, e.g. `steward-webhook-server-cert`. */
  readonly secret: Required<Key>;
  readonly names: ServingNames;
  /** Names of the configurations whose clients we are; no other is touched. */
  readonly mutating: readonly string[];
  readonly validating: readonly string[];
  /** Those of an optional part, without which the certificate is used all the same. */
  readonly optional?: { readonly mutating: readonly string[]; readonly validating: readonly string[] };
  /** They may be absent, and the webhook of their kind may be unavailable: nothing waits for them. */
  readonly further?: readonly FurtherClient[];
  /** Base URL of a manager outside of the cluster; absent: the Services in the configurations stay. */
  readonly url?: string;
  readonly life?: ServingLife;
  /** For `certwatcher_read_certificate_total` and its errors. */
  readonly read?: (ok: boolean) => void;
}

/** How long API servers have to load a new bundle before a certificate of its new CA is used. */
const spreadMs = 10_000;
const retryMs = 5_000;
const optionalRetryMs = 30_000;
const lookMs = 3600_000;
const longestRace = 5;

/**
 * Maintains a serving certificate in the common Secret of all replicas, and the CA bundle of the API servers. A replica
 * that finds no valid certificate issues one; of several concurrent ones, the first to write wins and the others use what
 * it wrote. Every replica distributes the CA before it uses a new certificate, and old CAs stay trusted until they expire.
 */
export class ServingCertificates {
  readonly #options: ServingCertificatesOptions;
  readonly #life: ServingLife;
  #material: ServingMaterial | undefined;
  #shown: ServingMaterial | undefined;
  #wake: () => void = () => undefined;
  /** Why further clients could not be notified, by their names. */
  readonly #failed = new Map<string, string>();
  /** Something changed since the last pass began. */
  #changed = false;
  #failure: string | undefined;
  #optionalTrouble: string | undefined;

  constructor(options: ServingCertificatesOptions) {
    this.#options = options;
    this.#life = options.life ?? defaultServingLife;
  }

  /** One pass: finds or issues the certificate and distributes its CA. Returns the pair to serve with. */
  async ensure(): Promise<ServingPair> {
    try {
      const material = await this.#load();
      this.#material = material;
      await this.#spread(this.#options, material);
      await this.#spreadOptional(material);
      await this.#notifyFurther(material);
      this.#failure = undefined;
      this.#options.read?.(true);
      this.#shown ??= material;
      return { certificate: material.certificate, key: material.key };
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#options.read?.(false);
      throw error;
    }
  }

  /**
   * Watches Secret and configurations, renews in time, and gives every new pair to `use` once API servers trust it.
   * Resolves when the signal aborts; errors are logged and tried again.
   */
  async run(use: (pair: ServingPair) => void, signal: AbortSignal): Promise<void> {
    const subscriptions = this.#subscribe();
    try {
      while (!signal.aborted) {
        this.#changed = false;
        const waitMs = await this.#pass(use, signal);
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- informers set it meanwhile
        if (!this.#changed) await this.#rest(waitMs, signal);
      }
    } finally {
      for (const unsubscribe of subscriptions) unsubscribe();
    }
  }

  async #notifyFurther(material: ServingMaterial): Promise<void> {
    const { further = [], log } = this.#options;
    const notify = async (client: FurtherClient): Promise<void> => {
      const { kind, name } = client;
      const id = `${kind.kind} ${name}`;
      try {
        await this.#trust(client, material);
        this.#failed.delete(id);
      } catch (error) {
        const why = messageOf(error);
        if (this.#failed.get(id) === why) return;
        this.#failed.set(id, why);
        log.warn('the CA bundle of a configuration cannot be updated; trying again', { kind: kind.kind, name, error });
      }
    };
    await Promise.all(further.map(notify));
  }

  /** Whether a valid certificate is in use. */
  get health(): HealthCheck {
    return {
      name: 'webhook-certificate',
      check: () => {
        if (this.#shown === undefined) return this.#failure ?? 'there is no certificate yet';
        const order = {
          names: this.#options.names,
          now: this.#options.clock.now(),
          life: { validMs: 0, renewBeforeMs: 0 },
        };
        const why = whyNotServing(this.#shown, order);
        return why === undefined ? undefined : `${why}${this.#failure === undefined ? '' : `: ${this.#failure}`}`;
      },
    };
  }

  /** Why configurations of the optional part do not trust the certificate, as text for people; undefined when they do. */
  get optionalTrouble(): string | undefined {
    return this.#optionalTrouble;
  }

  /** One pass that never fails; returns the milliseconds until the next one is due without a change. */
  async #pass(use: (pair: ServingPair) => void, signal: AbortSignal): Promise<number> {
    const { clock, log } = this.#options;
    try {
      const pair = await this.ensure();
      if (this.#shown !== this.#material && this.#shown?.certificate !== pair.certificate) {
        await this.#rest(spreadMs, signal, false);
        use(pair);
        log.info('a new serving certificate is in use', { secret: textOf(this.#options.secret) });
      }
      this.#shown = this.#material;
      const left = renewalOf(this.#shown ?? {}, this.#life).getTime() - clock.now().getTime();
      if (this.#failed.size > 0) return retryMs;
      return Math.min(Math.max(left, retryMs), this.#optionalTrouble === undefined ? lookMs : optionalRetryMs);
    } catch (error) {
      if (!signal.aborted) log.error('the serving certificate cannot be checked or renewed; trying again', { error });
      return retryMs;
    }
  }

  #subscribe(): readonly (() => void)[] {
    const { informers, secret, mutating, validating, optional, further = [] } = this.#options;
    const follow = (kind: KindRef, name: string, namespace?: string, mayBeAbsent = false): (() => void) =>
      informers
        .informer({
          kind,
          fieldSelector: `metadata.name=${name}`,
          metadataOnly: true,
          ...(mayBeAbsent ? { optional: true } : {}),
          namespace,
        })
        .subscribe(() => {
          this.#changed = true;
          this.#wake();
        });
    return [
      follow(kinds.Secret, secret.name, secret.namespace),
      ...[...mutating, ...(optional?.mutating ?? [])].map((name) => follow(kinds.MutatingWebhookConfiguration, name)),
      ...[...validating, ...(optional?.validating ?? [])].map((name) =>
        follow(kinds.ValidatingWebhookConfiguration, name),
      ),
      ...further.map(({ kind, name }) => follow(kind, name, undefined, true)),
    ];
  }

  /** Waits until the time is over, the signal aborts or (unless it is not wakeful) something changes. */
  async #rest(ms: number, signal: AbortSignal, wakeful = true): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#options.clock.after(ms, end);
      signal.addEventListener('abort', end, { once: true });
      if (wakeful) this.#wake = end;
    });
    this.#wake = () => undefined;
  }

  /** The shared material; made again when there is none that serves. */
  async #load(): Promise<ServingMaterial> {
    const { cluster, secret: key, clock, names, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const secret = await cluster.get(kinds.Secret, key);
      const found = materialOf(secret);
      const order = { names, life: this.#life, now: clock.now() };
      const why = secret === undefined ? 'there is no certificate' : whyNotServing(found, order);
      if (why === undefined) return found as ServingMaterial;
      log.info('creating a new serving certificate', { secret: textOf(key), reason: why });
      const made = await makeServingMaterial({ ...order, before: found.bundle });
      try {
        await this.#store(secret, made);
        return made;
      } catch (error) {
        // Another replica was faster: use what it wrote.
        if (!(error instanceof ApiError && error.code === 409) || attempt >= longestRace) throw error;
      }
    }
  }

  async #store(before: Secret | undefined, material: ServingMaterial): Promise<void> {
    const { cluster, secret: key } = this.#options;
    const data = {
      'ca.crt': encode(material.bundle),
      'tls.crt': encode(material.certificate),
      'tls.key': encode(material.key),
    };
    if (before === undefined) {
      const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: key, type: 'kubernetes.io/tls', data };
      await cluster.create(kinds.Secret, manifest);
      return;
    }
    const { resourceVersion } = before.metadata;
    await cluster.patch(kinds.Secret, key, { type: 'merge', body: { metadata: { resourceVersion }, data } });
  }

  async #spread(
    { mutating, validating }: Pick<ServingCertificatesOptions, 'mutating' | 'validating'>,
    material: ServingMaterial,
  ): Promise<void> {
    await Promise.all([
      ...mutating.map((name) => this.#trust(webhooksOf('Mutating', name), material)),
      ...validating.map((name) => this.#trust(webhooksOf('Validating', name), material)),
    ]);
  }

  /** Problems of the optional part are reported once and retried; nothing waits for them. */
  async #spreadOptional(material: ServingMaterial): Promise<void> {
    const { optional, log } = this.#options;
    if (optional === undefined) return;
    const before = this.#optionalTrouble;
    try {
      await this.#spread(optional, material);
      this.#optionalTrouble = undefined;
    } catch (error) {
      this.#optionalTrouble = error instanceof Error ? error.message : String(error);
      if (this.#optionalTrouble === before) return;
      log.warn('the webhooks of an optional component cannot be configured yet; trying again', { ...optional, error });
    }
  }

  async #trust({ kind, name, patch: patchOf }: FurtherClient, material: ServingMaterial): Promise<void> {
    const { cluster, url, log } = this.#options;
    const configuration = await cluster.get(kind, { name });
    if (configuration === undefined) {
      log.warn('a configuration that refers to this server does not exist yet', { kind: kind.kind, name });
      return;
    }
    const patch = patchOf(configuration, { bundle: material.bundle, url });
    if (patch === undefined) return;
    await cluster.patch(kind, { name }, patch);
    log.info('the CA bundle of a configuration was updated', { kind: kind.kind, name });
  }
}

function webhooksOf(type: 'Mutating' | 'Validating', name: string): FurtherClient {
  const kind = kinds[`${type}WebhookConfiguration`];
  return { kind, name, patch: (object, client) => clientConfigPatch(object, client) };
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function materialOf(secret: Secret | undefined): Partial<ServingMaterial> {
  const data: Readonly<Record<string, string>> = secret?.data ?? {};
  const read = (key: string): string | undefined =>
    data[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString('utf8');
  const [bundle, certificate, key] = [read('ca.crt'), read('tls.crt'), read('tls.key')];
  return { bundle, certificate, key };
}
