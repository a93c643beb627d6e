import { readOwnership } from '../../../stores/etcd/ownership.ts';
import { parseLogins } from '../../../stores/nats/login-registry.ts';
import { parseRecord } from '../../../stores/nats/records.ts';
import { isSupportedMysql, parseMysqlVersion } from '../../../stores/mysql/version.ts';
import { StoreError } from '../../../stores/store-error.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const record = { owner: 'uid', schema: 'a', user: 'a' };

/** Who owns names, who has had a login, and the version of a server: which one is chosen by the first byte. */
export const storeRecords: FuzzTarget = {
  name: 'store-records',
  from: 'a datastore, and in NATS with one login its tenant',
  seeds: () => [
    `a${JSON.stringify(record)}`,
    `b${JSON.stringify([{ owner: 'uid', salt: '00', hash: 'ff' }])}`,
    'c11.4.2-MariaDB-log\nmariadb.org',
    'c8.4.6\nTiDB Server',
  ],
  refusals: [StoreError],
  parse: async (input) => {
    const text = input.subarray(1).toString();
    switch ((input[0] ?? 0) % 3) {
      case 'a'.charCodeAt(0) % 3: {
        const { owner, schema, user } = parseRecord('a', text);
        kept(
          [owner, schema, user].every((field) => typeof field === 'string'),
          'a record has texts',
        );
        const client = {
          get: () => Promise.resolve(text),
          createAll: () => Promise.resolve(false),
          deleteKeys: () => Promise.resolve(),
        };
        const { is } = await readOwnership(client, { ...record, owner, password: 'x' });
        kept(is === 'own' ? schema === 'a' && user === 'a' : is === 'foreign', 'only what is recorded is owned');
        return;
      }
      case 'b'.charCodeAt(0) % 3:
        for (const login of parseLogins(text))
          kept(Object.values(login).length >= 3 && Buffer.from(login.salt, 'hex').length >= 0, 'a login has a salt');
        return;
      default: {
        const [version = '', comment = ''] = text.split('\n');
        const found = parseMysqlVersion(version, comment);
        kept(found.flavor !== 'TiDB' || !isSupportedMysql(found), 'TiDB is not supported');
      }
    }
  },
};
