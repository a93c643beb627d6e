import type { Etcd3, IRequestOp, ITxnResponse } from 'etcd3';
import type { ApiServerHand, Replacement, VersionedValue } from '../../../stores/contract/tenancy-data-contract.ts';

interface Present {
  readonly value: Buffer;
  readonly revision: string;
}

/**
 * Rejects a write that was not applied although the key did not change: kine takes every error of its database for such a
 * change (pkg/logstructured/logstructured.go), and kube-apiserver would try for as long as its caller waits.
 */
function requireProgress(name: string, known: Present | undefined, refused: string | undefined): void {
  if (known === undefined || known.revision !== refused) return;
  throw new Error(`the store did not write ${name}, which nobody has changed`);
}

const versionOf = (known: Present | undefined): VersionedValue | undefined =>
  known && { value: known.value, revision: BigInt(known.revision) };

/**
 * Reads and writes as kube-apiserver's storage does (k8s.io/apiserver/pkg/storage/etcd3): optimistic transactions that compare the
 * modification revision. kine takes no others. `root` ends with a slash. Disposing of it calls `close`.
 */
export function apiServerHand(client: Etcd3, root: string, close: () => Promise<void>): ApiServerHand {
  const present = async (key: Buffer): Promise<Present | undefined> => {
    const [found] = (await client.kv.range({ key })).kvs;
    return found === undefined ? undefined : { value: found.value, revision: found.mod_revision };
  };
  const transaction = (key: Buffer, revision: string, operation: IRequestOp): Promise<ITxnResponse> =>
    client.kv.txn({
      compare: [{ key, target: 'Mod', result: 'Equal', mod_revision: revision }],
      success: [operation],
      failure: revision === '0' ? [] : [{ request_range: { key } }],
    });
  const commit = async (key: Buffer, revision: string, operation: IRequestOp): Promise<bigint | undefined> => {
    const said = await transaction(key, revision, operation);
    return said.succeeded ? BigInt(said.header.revision) : undefined;
  };
  return {
    put: async (name, value, ttlSeconds) => {
      const key = Buffer.from(root + name);
      const lease = ttlSeconds === undefined ? undefined : await client.leaseClient.leaseGrant({ TTL: ttlSeconds });
      const put = {
        request_put: { key, value: Buffer.from(value), ...(lease === undefined ? {} : { lease: lease.ID }) },
      };
      for (let refused: string | undefined; ;) {
        const known = await present(key);
        requireProgress(name, known, refused);
        const revision = await commit(key, known?.revision ?? '0', put);
        if (revision !== undefined) return revision;
        refused = known?.revision;
      }
    },
    delete: async (name) => {
      const key = Buffer.from(root + name);
      for (let refused: string | undefined; ;) {
        const known = await present(key);
        if (known === undefined) return;
        requireProgress(name, known, refused);
        if ((await commit(key, known.revision, { request_delete_range: { key } })) !== undefined) return;
        refused = known.revision;
      }
    },
    get: async (name) => (await present(Buffer.from(root + name)))?.value,
    getVersion: async (name) => versionOf(await present(Buffer.from(root + name))),
    replace: async (name, revision, value): Promise<Replacement> => {
      const key = Buffer.from(root + name);
      const change: IRequestOp =
        value === undefined ? { request_delete_range: { key } } : { request_put: { key, value: Buffer.from(value) } };
      const said = await transaction(key, String(revision), change);
      if (said.succeeded) return { is: 'done', revision: BigInt(said.header.revision) };
      if (revision === 0n) return { is: 'conflict' };
      const [found] = said.responses[0]?.response_range.kvs ?? [];
      const known = found && { value: found.value, revision: found.mod_revision };
      requireProgress(name, known, String(revision));
      return { is: 'conflict', found: { version: versionOf(known) } };
    },
    [Symbol.asyncDispose]: close,
  };
}
