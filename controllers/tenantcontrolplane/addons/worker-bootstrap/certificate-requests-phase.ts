import { kinds } from '../../../../api/core/kinds.ts';
import type { CertificateSigningRequest, Node } from '../../../../api/core/kinds.ts';
import { canonicalIp, parseCidr, parseCidrs } from '../../../../kubeadm/networks.ts';
import type { Cluster, ListOf } from '../../../../runtime/client/cluster.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import { ApiError, UnreachableError } from '../../../../runtime/client/errors.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { namedServer, serverHost, serversOf } from '../../shared/addon-server.ts';
import { tenantNetworks } from '../../shared/tenant-networks.ts';
import { shownNames } from '../../endpoint/deployed-sans.ts';
import { noRequestsLeft, RequestBook, withRequest } from './csr-progress.ts';
import { isPending, evaluateNames, kubeletServing, readServingRequest } from './serving-request.ts';
import type { LeftAlone, ServingRequest, ServingRules } from './serving-request.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fieldManager } from '../../dependencies.ts';
import type { RequestPass } from './csr-progress.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { ledHosts } from '../../endpoint/previous-endpoint.ts';
import { deniesWrites } from '../../upgrade/writes-in-tenant.ts';
import { Issuing } from '../../certificates/issue-certificates.ts';

type Request = CertificateSigningRequest;

/** The dependencies with which requests are read and approved. */
export type RequestsDependencies = Pick<
  Dependencies,
  'addons' | 'clock' | 'memory' | 'issuers' | 'renewBeforeMs' | 'cached'
> & {
  readonly tenants: Pick<Dependencies['tenants'], 'client' | 'wakeOn' | 'sleepOn'>;
};

/** Requests that a reconcile checks; a tenant may have created ten thousand. */
const pageSize = 100;

/** Page size for the largest objects that an API server stores, so that a page stays below the limit for a tenant's response. */
const smallPageSize = 5;

/** Requests that are decided in parallel. */
const batchSize = 8;

/** After this many milliseconds a reconcile starts no further requests: the tenant may be slow on purpose. */
const enoughMs = 5_000;

/** Until the next page of a pass, in milliseconds. */
const nextPageMs = 2_000;

/** Until requests that may be approved later are checked again, in milliseconds; sooner when all of them are on one page. */
const mayFitMs = { fewRequests: 10_000, manyRequests: 5 * 60_000 } as const;

/** A request that could not be approved for this long is not checked again: its kubelet creates another one. In milliseconds. */
const patienceMs = 15 * 60_000;

const kind = kinds.CertificateSigningRequest;
const fieldSelector = `spec.signerName=${kubeletServing}`;

/**
 * The names that no node may have a certificate for, and the allowed networks. Throws `InvalidInputError` for an invalid subnet.
 */
function rulesOf(scope: Readonly<Scope>, deps: RequestsDependencies, ctx: Context): ServingRules {
  const { tcp, observed } = scope;
  const { clusterDomain } = tcp.spec.networkProfile;
  const { services } = tenantNetworks(tcp);
  const { dnsNames = [], ipAddresses = [] } = new Issuing(scope, deps, ctx).leafOf('apiserver').profile;
  const endpoint = needed(scope.endpoint, 'endpoint');
  const field = 'spec.addons.workerBootstrap.allowedSubnets';
  const ofAddons = serversOf(deps.addons).map((server) => serverHost(endpoint.host, namedServer(server, tcp)));
  const present = [...dnsNames, ...ipAddresses, endpoint.host, ...ofAddons];
  // Clients may use a previous endpoint for a long time, and trust the same CA.
  const taken = [...present, ...shownNames(tcp, endpoint, observed.secrets, deps.addons), ...ledHosts(scope, deps)];
  return {
    allowedSubnets: (tcp.spec.addons.workerBootstrap?.allowedSubnets ?? []).map((subnet) => parseCidr(subnet, field)),
    controlPlane: new Set(taken.map((name) => canonicalIp(name) ?? name)),
    serviceNetworks: parseCidrs(services.value, services.field),
    clusterDomain,
  };
}

/** Lists one page of the requests; a page that is too large to read is read in smaller ones. */
async function pageOf(client: Cluster, pass: RequestPass, signal: AbortSignal): Promise<ListOf<Request>> {
  const { from } = pass;
  const read = (limit: number): Promise<ListOf<Request>> =>
    client.list<Request>(kind, { fieldSelector, signal, page: { limit, from } });
  try {
    return await read(pageSize);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return read(smallPageSize);
  }
}

/** One reconcile of a tenant's requests. */
class Approving {
  readonly #client: Cluster;
  readonly #rules: ServingRules;
  readonly #ctx: Context;
  /** The nodes that have been read in this reconcile. */
  readonly #nodes = new Map<string, Promise<Node | undefined>>();
  approved = 0;

  constructor(client: Cluster, rules: ServingRules, ctx: Context) {
    this.#client = client;
    this.#rules = rules;
    this.#ctx = ctx;
  }

  /** Approves the request, or reports why not. */
  async decide(request: Request): Promise<LeftAlone | undefined> {
    const read = readServingRequest(request, this.#rules);
    if (read.is === 'left') return read;
    const verdict = evaluateNames(read, await this.#node(read.node));
    return verdict.is === 'left' ? verdict : this.#approve(request, read);
  }

  #node(name: string): Promise<Node | undefined> {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const found = this.#client.get<Node>(kinds.Node, { name }, { signal: this.#ctx.signal });
    this.#nodes.set(name, found);
    return found;
  }

  async #approve({ metadata }: Request, { node }: ServingRequest): Promise<LeftAlone | undefined> {
    const { name, uid, resourceVersion } = metadata;
    const condition = {
      type: 'Approved',
      status: 'True',
      reason: 'StewardAutoApproved',
      message: `node ${node} reports every requested name and address`,
      lastUpdateTime: this.#ctx.now.toISOString().replace(/\.\d{3}Z$/, 'Z'),
    };
    // Only for the object as it was read: it may have been denied, or replaced by another one of the same name, in the meantime.
    const body = { metadata: { uid, resourceVersion }, status: { conditions: [condition] } };
    const options = { fieldManager, subresource: 'approval', signal: this.#ctx.signal } as const;
    try {
      await this.#client.patch(kind, { name }, { type: 'merge', body }, options);
      this.approved += 1;
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Changed or deleted since it was read: the next pass sees it again.
      if (error.code === 409 || error.code === 404) return undefined;
      if (error.code !== 403 && error.code !== 422) throw error;
      const why = 'passed all checks, but the API server of the tenant refused the approval';
      return { is: 'left', why, mayFit: false };
    }
  }
}

function isYoung({ metadata }: Request, now: Date): boolean {
  return now.getTime() - Date.parse(metadata.creationTimestamp ?? '') < patienceMs;
}

/** Adds a page to the pass; undefined when there was no time for the whole page. */
async function overPage(
  items: readonly Request[],
  pass: RequestPass,
  approving: Approving,
  { deps, ctx }: { readonly deps: RequestsDependencies; readonly ctx: Context },
): Promise<RequestPass | undefined> {
  const began = deps.clock.monotonic();
  let { left, mayFit } = pass;
  const pending = items.filter(isPending);
  for (let at = 0; at < pending.length; at += batchSize) {
    if (deps.clock.monotonic() - began > enoughMs) return undefined;
    const batch = pending.slice(at, at + batchSize);
    const verdicts = await Promise.all(batch.map((request) => approving.decide(request)));
    for (const [index, verdict] of verdicts.entries()) {
      const request = batch[index];
      if (verdict === undefined || request === undefined) continue;
      left = withRequest(left, request.metadata.name, verdict.why);
      mayFit ||= verdict.mayFit && isYoung(request, ctx.now);
    }
  }
  return { ...pass, left, mayFit };
}

/**
 * Approves the serving certificates that kubelets request, each only for the names and addresses of its own node. All others
 * are not changed, and are reported. A reconcile handles one page of requests; after the last page it waits for new ones.
 */
export async function certificateRequests(
  scope: Readonly<Scope>,
  deps: RequestsDependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const uid = tcp.metadata.uid;
  const requests = new RequestBook(deps.memory);
  if (tcp.spec.addons.workerBootstrap?.csrApproval.autoApprove !== true) {
    requests.forget(uid);
    deps.tenants.sleepOn(uid);
    return { is: 'done', learned: { addons: { workerBootstrap: { requestsLeft: noRequestsLeft } } } };
  }
  if (deniesWrites(scope)) return { is: 'done' };
  const client = deps.tenants.client(scope);
  const pass = requests.of(uid);
  const page = await pageOf(client, pass, ctx.signal).catch((error: unknown) => {
    requests.forget(uid);
    // The pass took so long that its continue token expired: the next reconcile starts over.
    if (error instanceof ApiError && error.code === 410) return undefined;
    throw error;
  });
  if (page === undefined) return { is: 'done', afterMs: nextPageMs };
  const approving = new Approving(client, rulesOf(scope, deps, ctx), ctx);
  const after = await overPage(page.items, pass, approving, { deps, ctx });
  if (approving.approved > 0) {
    const message = `approved serving certificate requests: ${approving.approved}, each only for names that its node reports`;
    ctx.event('Normal', 'CertificateRequestsApproved', message);
  }
  if (after === undefined) return { is: 'done', afterMs: nextPageMs, hasMore: approving.approved > 0 };
  const resourceVersion = pass.resourceVersion ?? page.resourceVersion;
  if (page.next !== undefined) {
    requests.remember(uid, { ...after, from: page.next, resourceVersion });
    return { is: 'done', afterMs: nextPageMs, hasMore: true };
  }
  const lookAgainMs = pass.from === undefined ? mayFitMs.fewRequests : mayFitMs.manyRequests;
  requests.forget(uid);
  deps.tenants.wakeOn(scope, { kind, fieldSelector, resourceVersion });
  return {
    is: 'done',
    learned: { addons: { workerBootstrap: { requestsLeft: after.left } } },
    ...(after.mayFit && { afterMs: lookAgainMs }),
  };
}
