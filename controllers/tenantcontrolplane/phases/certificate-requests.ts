import { kinds } from '../../../api/core/kinds.ts';
import type { CertificateSigningRequest, Node } from '../../../api/core/kinds.ts';
import { canonicalIp, parseCidr, parseCidrs } from '../../../kubeadm/networks.ts';
import type { Cluster, ListOf } from '../../../runtime/cluster.ts';
import type { Context } from '../../../runtime/controller.ts';
import { ApiError, UnreachableError } from '../../../runtime/errors.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { agentHost } from '../components/konnectivity/agent-address.ts';
import { shownNames } from '../components/shown-names.ts';
import { noRequestsLeft, withRequest } from '../components/worker-bootstrap/requests-text.ts';
import {
  isPending,
  judgeNames,
  kubeletServing,
  readServingRequest,
} from '../components/worker-bootstrap/serving-request.ts';
import type { LeftAlone, ServingRequest, ServingRules } from '../components/worker-bootstrap/serving-request.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { RequestPass } from '../request-book.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { ledHosts } from './former-endpoint.ts';
import { deniesWrites } from './inside-tenant.ts';
import { Issuing } from './issuing.ts';

type Request = CertificateSigningRequest;

/** What the requests are looked at and approved through. */
export type RequestsDependencies = Pick<Dependencies, 'clock' | 'requests' | 'issuers' | 'renewBeforeMs' | 'cached'> & {
  readonly tenants: Pick<Dependencies['tenants'], 'door' | 'wakeOn' | 'sleepOn'>;
};

/** Requests that a visit looks at; a tenant may have made ten thousand. */
const pageSize = 100;

/** Of the largest objects that an API server keeps, so many fit into what a tenant's answer may be. */
const smallPageSize = 5;

/** Requests that are decided side by side. */
const batchSize = 8;

/** After so long no further ones are begun in this visit, in milliseconds: the tenant may be slow on purpose. */
const enoughMs = 5_000;

/** Until the next page of a pass, in milliseconds. */
const nextPageMs = 2_000;

/** Until requests are looked at again that may fit later, in milliseconds: soon where all fit on a page. */
const mayFitMs = { fewRequests: 10_000, manyRequests: 5 * 60_000 } as const;

/** A request that did not fit for so long never will: its kubelet has given up, and makes another. In milliseconds. */
const patienceMs = 15 * 60_000;

const kind = kinds.CertificateSigningRequest;
const fieldSelector = `spec.signerName=${kubeletServing}`;

/** What no node may have a certificate for, and where addresses must lie. Throws `InvalidInputError` for a subnet that is none. */
function rulesOf(scope: Readonly<Scope>, deps: RequestsDependencies, ctx: Context): ServingRules {
  const { tcp, observed } = scope;
  const { serviceCidr, clusterDomain } = tcp.spec.networkProfile;
  const { dnsNames = [], ipAddresses = [] } = new Issuing(scope, deps, ctx).leaves.apiserver.profile;
  const endpoint = needed(scope.endpoint, 'endpoint');
  const field = 'spec.addons.workerBootstrap.allowedSubnets';
  const present = [...dnsNames, ...ipAddresses, endpoint.host, agentHost(tcp, endpoint)];
  // Whoever was told of an endpoint that is given up may come by it for long, and trusts the same authority.
  const taken = [...present, ...shownNames(tcp, observed.secrets), ...ledHosts(scope, deps)];
  return {
    allowedSubnets: (tcp.spec.addons.workerBootstrap?.allowedSubnets ?? []).map((subnet) => parseCidr(subnet, field)),
    controlPlane: new Set(taken.map((name) => canonicalIp(name) ?? name)),
    serviceNetworks: parseCidrs(serviceCidr, 'spec.networkProfile.serviceCidr'),
    clusterDomain,
  };
}

/** A page of the requests. What is too large to read is read in smaller pieces. */
async function pageOf(door: Cluster, pass: RequestPass, signal: AbortSignal): Promise<ListOf<Request>> {
  const { from } = pass;
  const read = (limit: number): Promise<ListOf<Request>> =>
    door.list<Request>(kind, { fieldSelector, signal, page: { limit, ...(from !== undefined && { from }) } });
  try {
    return await read(pageSize);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return read(smallPageSize);
  }
}

/** One visit to a tenant's requests. */
class Approving {
  readonly #door: Cluster;
  readonly #rules: ServingRules;
  readonly #ctx: Context;
  /** The nodes that were asked for. */
  readonly #nodes = new Map<string, Promise<Node | undefined>>();
  approved = 0;

  constructor(door: Cluster, rules: ServingRules, ctx: Context) {
    this.#door = door;
    this.#rules = rules;
    this.#ctx = ctx;
  }

  /** Approves the request, or tells why it is left alone. */
  async decide(request: Request): Promise<LeftAlone | undefined> {
    const read = readServingRequest(request, this.#rules);
    if (read.is === 'left') return read;
    const verdict = judgeNames(read, await this.#node(read.node));
    return verdict.is === 'left' ? verdict : this.#approve(request, read);
  }

  #node(name: string): Promise<Node | undefined> {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const found = this.#door.get<Node>(kinds.Node, { name }, { signal: this.#ctx.signal });
    this.#nodes.set(name, found);
    return found;
  }

  async #approve({ metadata }: Request, { node }: ServingRequest): Promise<LeftAlone | undefined> {
    const { name = '', uid, resourceVersion } = metadata;
    const condition = {
      type: 'Approved',
      status: 'True',
      reason: 'StewardAutoApproved',
      message: `node ${node} reports every name and address that it asks for`,
      lastUpdateTime: this.#ctx.now.toISOString().replace(/\.\d{3}Z$/, 'Z'),
    };
    // Of this very object as it was read: somebody may have denied it meanwhile, or made another one under its name.
    const body = { metadata: { uid, resourceVersion }, status: { conditions: [condition] } };
    const options = { fieldManager, subresource: 'approval', signal: this.#ctx.signal } as const;
    try {
      await this.#door.patch(kind, { name }, { type: 'merge', body }, options);
      this.approved += 1;
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Changed or gone since it was read: it is looked at again when it is read again.
      if (error.code === 409 || error.code === 404) return undefined;
      if (error.code !== 403 && error.code !== 422) throw error;
      return { is: 'left', why: 'fits, but the API server of the tenant refuses its approval', mayFit: false };
    }
  }
}

function isYoung({ metadata }: Request, now: Date): boolean {
  return now.getTime() - Date.parse(metadata.creationTimestamp ?? '') < patienceMs;
}

/** What a page adds to the pass; undefined when there was no time for all of it. */
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
      left = withRequest(left, request.metadata.name ?? '', verdict.why);
      mayFit ||= verdict.mayFit && isYoung(request, ctx.now);
    }
  }
  return { ...pass, left, mayFit };
}

/**
 * Approves the serving certificates that kubelets ask for, each for the names and addresses of its own node. Everything else is
 * left alone and told. A visit looks at one page of the requests; after the last one a new request is waited for.
 */
export async function certificateRequests(
  scope: Readonly<Scope>,
  deps: RequestsDependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const uid = tcp.metadata.uid ?? '';
  if (tcp.spec.addons.workerBootstrap?.csrApproval.autoApprove !== true) {
    deps.requests.forget(uid);
    deps.tenants.sleepOn(uid);
    return { is: 'done', learned: { requestsLeft: noRequestsLeft } };
  }
  if (deniesWrites(scope)) return { is: 'done' };
  const door = deps.tenants.door(scope);
  const pass = deps.requests.of(uid);
  const page = await pageOf(door, pass, ctx.signal).catch((error: unknown) => {
    deps.requests.forget(uid);
    // The pass took too long for its place to be still known: the next visit begins again.
    if (error instanceof ApiError && error.code === 410) return undefined;
    throw error;
  });
  if (page === undefined) return { is: 'done', afterMs: nextPageMs };
  const approving = new Approving(door, rulesOf(scope, deps, ctx), ctx);
  const after = await overPage(page.items, pass, approving, { deps, ctx });
  if (approving.approved > 0) {
    const message = `${approving.approved} serving certificates of nodes, each for names that the node reports`;
    ctx.event('Normal', 'CertificateRequestsApproved', message);
  }
  if (after === undefined) return { is: 'done', afterMs: nextPageMs, hasMore: approving.approved > 0 };
  const resourceVersion = pass.resourceVersion ?? page.resourceVersion;
  if (page.next !== undefined) {
    deps.requests.remember(uid, { ...after, from: page.next, resourceVersion });
    return { is: 'done', afterMs: nextPageMs, hasMore: true };
  }
  const lookAgainMs = pass.from === undefined ? mayFitMs.fewRequests : mayFitMs.manyRequests;
  deps.requests.forget(uid);
  deps.tenants.wakeOn(scope, { kind, fieldSelector, resourceVersion });
  return { is: 'done', learned: { requestsLeft: after.left }, ...(after.mayFit && { afterMs: lookAgainMs }) };
}
