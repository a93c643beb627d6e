import { createSecureContext } from 'node:tls';

import type { ClientTls } from '../../../stores/driver.ts';
import { guardedPut, keyRead, kindWatch, methods, prefixCount } from './etcd-messages.ts';
import { GrpcConnection } from './grpc-connection.ts';
import type { GrpcTarget } from './grpc-connection.ts';
import { leasesOfTenant } from './load-cycle.ts';
import type { LoadAction } from './load-cycle.ts';
import type { BegunWrite, WriteRecorder } from './write-samples.ts';

/** How the API server of a tenant reaches its data. */
export interface TenantTarget {
  /** What its keys begin with; ends with a slash. */
  readonly root: string;
  readonly endpoint:
    { readonly socket: string } | { readonly host: string; readonly port: number; readonly tls: ClientTls };
}

/** How a tenant is loaded. */
export interface TenantLoadOptions {
  readonly target: TenantTarget;
  readonly isMeasured: boolean;
  /** Names of kinds, as they stand in keys. */
  readonly kinds: readonly string[];
  /** A connection for each kind, as kube-apiserver has them, or one for all. */
  readonly connections: 'kinds' | 'one';
  /** Address of this side. */
  readonly localAddress: string;
}

/** Of a lease, and of the objects that a kind has. */
const leaseBytes = 500;
const objectBytes = 1_024;

interface Lease {
  readonly key: string;
  revision: number;
  count: number;
  isUnderWay: boolean;
  /** When it should have been renewed again, while it still is. */
  dueAt?: number | undefined;
}

/** What the API server of one idle tenant does to its datastore. */
export class TenantLoad implements Disposable {
  readonly #options: TenantLoadOptions;
  readonly #recorder: WriteRecorder;
  readonly #connections: readonly GrpcConnection[];
  readonly #leases: readonly Lease[];
  #isClosed = false;

  private constructor(options: TenantLoadOptions, recorder: WriteRecorder, connections: readonly GrpcConnection[]) {
    this.#options = options;
    this.#recorder = recorder;
    this.#connections = connections;
    this.#leases = Array.from({ length: leasesOfTenant + (options.isMeasured ? 1 : 0) }, (_, at) => ({
      ...{ key: `${options.target.root}leases/kube-node-lease/node-${at}`, revision: 0, count: 0, isUnderWay: false },
    }));
  }

  /** Connects, writes an object of each kind and all leases, and watches all kinds. */
  static async open(options: TenantLoadOptions, recorder: WriteRecorder): Promise<TenantLoad> {
    const { target, kinds, connections: wanted } = options;
    const grpc = grpcTarget(options);
    // One after the other: many tenants are opened side by side.
    const connections: GrpcConnection[] = [];
    for (let at = 0; at < (wanted === 'one' ? 1 : kinds.length); at += 1)
      connections.push(await GrpcConnection.open(grpc));
    const tenant = new TenantLoad(options, recorder, connections);
    const object = Buffer.alloc(objectBytes, 'x');
    for (const kind of kinds)
      await tenant.#connection(0).call(methods.txn, guardedPut(`${target.root}${kind}/default/object`, object, 0));
    for (const lease of tenant.#leases) await tenant.#renewed(lease);
    const { header } = await tenant.#connection(0).call(methods.range, keyRead(`${target.root}health`));
    for (const [at, kind] of kinds.entries()) tenant.#watch(at, `${target.root}${kind}/`, (header?.revision ?? 0) + 1);
    return tenant;
  }

  /** Does one thing, and reports what fails. */
  act({ is, which }: LoadAction): void {
    if (is === 'renew') {
      const lease = this.#leases[which];
      if (lease === undefined) return;
      if (lease.isUnderWay) lease.dueAt ??= performance.now();
      else this.#renew(lease, performance.now());
      return;
    }
    const { target, kinds } = this.#options;
    const request =
      is === 'read' ? keyRead(`${target.root}health`) : prefixCount(`${target.root}${kinds[which] ?? ''}/`);
    this.#connection(which)
      .call(methods.range, request)
      .catch((error: unknown) => {
        this.#failed(error);
      });
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection[Symbol.dispose]();
  }

  /** A renewal that came due meanwhile follows at once, and has begun when it was due. */
  #renew(lease: Lease, at: number): void {
    const write: BegunWrite = { at, isMeasured: this.#options.isMeasured };
    this.#recorder.began(write);
    lease.isUnderWay = true;
    const next = (): void => {
      lease.isUnderWay = false;
      const { dueAt } = lease;
      lease.dueAt = undefined;
      if (dueAt !== undefined && !this.#isClosed) this.#renew(lease, dueAt);
    };
    this.#renewed(lease).then(
      () => {
        this.#recorder.answered(write, performance.now());
        next();
      },
      (error: unknown) => {
        this.#failed(error, write);
        next();
      },
    );
  }

  /** One write. kine answers to errors of its database as to a change by somebody else, of which there is none here. */
  async #renewed(lease: Lease): Promise<void> {
    lease.count += 1;
    const value = Buffer.from(`renewed ${lease.count} times `.padEnd(leaseBytes, 'x'));
    const kind = Math.max(this.#options.kinds.indexOf('leases'), 0);
    const answer = await this.#connection(kind).call(methods.txn, guardedPut(lease.key, value, lease.revision));
    if (answer.succeeded) {
      lease.revision = answer.header?.revision ?? 0;
      return;
    }
    const [found] = answer.responses[0]?.response_range?.kvs ?? [];
    const isUnchanged = found?.mod_revision === lease.revision;
    // The write before was not answered, and done.
    lease.revision = found?.mod_revision ?? 0;
    if (isUnchanged) throw new Error(`${lease.key} was not written, which nobody has changed`);
  }

  #watch(kind: number, prefix: string, revision: number): void {
    this.#connection(kind).stream(methods.watch, kindWatch(prefix, revision), {
      heard: ({ canceled, cancel_reason: why }) => {
        if (canceled) this.#failed(new Error(`the watch of ${prefix} was canceled: ${why}`));
      },
      ended: (why) => {
        this.#failed(why);
      },
    });
  }

  #failed(error: unknown, write?: BegunWrite): void {
    if (!this.#isClosed) this.#recorder.failed((error as Error).message, write);
  }

  #connection(kind: number): GrpcConnection {
    const connection = this.#connections[kind % this.#connections.length];
    if (connection === undefined) throw new Error('A tenant without connections.');
    return connection;
  }
}

function grpcTarget({ target: { endpoint }, localAddress }: TenantLoadOptions): GrpcTarget {
  if ('socket' in endpoint) return endpoint;
  const { ca, certificate: cert, key } = endpoint.tls;
  const context = createSecureContext({ ca, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) });
  return { host: endpoint.host, port: endpoint.port, context, localAddress };
}
