import { createHash } from 'node:crypto';
import type { V1TokenReview } from '@kubernetes/client-node';
import type { KindRef, Resource } from '../../api/meta.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import type { Logger } from './logger.ts';
import { isAllowed } from '../admission/access-review.ts';
import { TokenBucket } from '../queue/token-bucket.ts';

const tokenReview: KindRef<Omit<V1TokenReview, 'apiVersion' | 'kind' | 'metadata'> & Resource> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
};
/** Reviews are answered, not stored; the API server refuses one with a name. */
const metadata = { name: '' };

/** Why a request is not answered. */
export interface Refusal {
  readonly code: 401 | 403 | 503;
  readonly message: string;
}

/** A requested page. */
export interface Wanted {
  /** The header `authorization`. */
  readonly authorization: string | undefined;
  readonly path: string;
  /** In lower case: the verb that a ClusterRole names. */
  readonly method: string;
}

interface Verdict {
  readonly refusal: Refusal | undefined;
  readonly until: number;
}

export interface ScrapeAccessOptions {
  /** Not guarded by leadership, because every replica serves metrics. */
  readonly cluster: Pick<Cluster, 'create'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** As controller-runtime remembers tokens, in milliseconds; a refusal for less, so that a new role soon helps. */
const rememberMs = { allowed: 60_000, refused: 10_000 };
const mostRemembered = 256;
/** The largest number of requests that unknown tokens may cause. */
const reviewsAllowed = { perSecond: 5, burst: 20 };
const reviewTimeoutMs = 5_000;

/**
 * Who may read metrics, as in controller-runtime: clients with a token that the API server knows (TokenReview) and with
 * permission for the path (SubjectAccessReview). Results are cached for a short time by the hash of the token. The rate of
 * requests is limited, so that invented tokens cannot put load on the API server.
 */
export class ScrapeAccess {
  readonly #options: ScrapeAccessOptions;
  readonly #reviews: TokenBucket;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #running = new Map<string, Promise<Refusal | undefined>>();

  constructor(options: ScrapeAccessOptions) {
    this.#options = options;
    this.#reviews = new TokenBucket(options.clock, reviewsAllowed);
  }

  /** Why this must not be answered; undefined when it may. */
  async refusal(wanted: Wanted): Promise<Refusal | undefined> {
    const token = /^Bearer (\S+)$/i.exec(wanted.authorization ?? '')?.[1];
    if (token === undefined) {
      return { code: 401, message: 'use the bearer token of an account that may get the path /metrics' };
    }
    const id = createHash('sha256').update(`${wanted.method} ${wanted.path} ${token}`).digest('base64');
    const known = this.#verdicts.get(id);
    if (known !== undefined && known.until > this.#options.clock.monotonic()) return known.refusal;
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    if (!this.#reviews.tryTake()) return { code: 503, message: 'too many unknown tokens; try again later' };
    const review = this.#ask(wanted, token, id).finally(() => this.#running.delete(id));
    this.#running.set(id, review);
    return review;
  }

  async #ask(wanted: Wanted, token: string, id: string): Promise<Refusal | undefined> {
    const { clock, log } = this.#options;
    try {
      const refusal = await this.#review(wanted, token);
      const ms = refusal === undefined ? rememberMs.allowed : rememberMs.refused;
      this.#verdicts.delete(id);
      this.#verdicts.set(id, { refusal, until: clock.monotonic() + ms });
      const [oldest = ''] = this.#verdicts.keys();
      if (this.#verdicts.size > mostRemembered) this.#verdicts.delete(oldest);
      return refusal;
    } catch (error) {
      log.error('the API server could not be asked whether a client may read metrics', { error });
      return { code: 503, message: 'the token could not be checked; see the manager’s log' };
    }
  }

  async #review({ path, method }: Wanted, token: string): Promise<Refusal | undefined> {
    const { cluster } = this.#options;
    const signal = AbortSignal.timeout(reviewTimeoutMs);
    const { status: who } = await cluster.create(
      tokenReview,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata, spec: { token } },
      { signal },
    );
    const { authenticated = false, user = {} } = who ?? {};
    if (!authenticated) return { code: 401, message: 'the API server does not accept the token' };
    const { username = '', groups = [], uid, extra } = user;
    const spec = { user: username, groups, nonResourceAttributes: { path, verb: method }, uid, extra };
    if (await isAllowed(cluster, spec, signal)) return undefined;
    const remedy = 'bind the ClusterRole steward-metrics-reader to it';
    return { code: 403, message: `${username} may not ${method} ${path}: ${remedy}` };
  }
}
