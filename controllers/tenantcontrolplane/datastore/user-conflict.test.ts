import { describe, expect, test } from '@jest/globals';
import { tenancyIdentifier } from '../../../stores/tenancy-names.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { foreignUser } from './check-user-conflict.ts';

const uid = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const otherUid = '6f9619ff-8b86-4011-b42d-00c04fc964fe';
const tcp = tenantControlPlaneWith({ metadata: { name: 'mine', namespace: 'team', uid } });
const other = tenantControlPlaneWith({
  metadata: { name: 'theirs', namespace: 'rival', uid: otherUid },
  status: {
    storage: { driver: 'etcd', dataStoreName: 'another', setup: { schema: 'rival_theirs', user: 'rival_theirs' } },
  },
});

describe('A user name that an author chose', () => {
  test('may be free, or the tenant’s own', () => {
    expect(foreignUser(tcp, 'team_mine', [other])).toBeUndefined();
    expect(foreignUser(tcp, tenancyIdentifier(uid), [other])).toBeUndefined();
    expect(foreignUser(other, 'rival_theirs', [other])).toBeUndefined();
  });

  test('may not be the user of a tenant of any DataStore', () => {
    expect(foreignUser(tcp, 'rival_theirs', [other])).toBe('is the user of rival/theirs');
  });

  test('may not be one that another tenant will get', () => {
    expect(foreignUser(tcp, tenancyIdentifier(otherUid), [])).toMatch(/has the form of a generated user name/);
  });
});
