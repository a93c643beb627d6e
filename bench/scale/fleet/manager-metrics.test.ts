import { expect, test } from '@jest/globals';

import { metricsOfManager } from './manager-metrics.ts';

const text = `
rest_client_requests_total{code="200",method="GET",host="management"} 5
rest_client_requests_total{code="404",method="GET",host="management"} 1
rest_client_requests_total{code="200",method="APPLY",host="management"} 2
rest_client_requests_total{code="200",method="GET",host="tenant"} 7
controller_runtime_reconcile_total{controller="tenantcontrolplane",result="success"} 10
controller_runtime_reconcile_total{controller="tenantcontrolplane",result="error"} 1
controller_runtime_reconcile_total{controller="datastore",result="success"} 90
workqueue_depth{name="tenantcontrolplane",controller="tenantcontrolplane",priority="0"} 3
workqueue_depth{name="tenantcontrolplane",controller="tenantcontrolplane",priority="100"} 1
controller_runtime_active_workers{controller="tenantcontrolplane"} 8
nodejs_eventloop_lag_p99_seconds 0.035
nodejs_eventloop_lag_max_seconds 0.009
nodejs_heap_size_used_bytes 52428800
steward_shard_members 3
steward_shard_objects{controller="tenantcontrolplane"} 4
`;

test("The manager's metrics give requests by verb, reconciles of tenants, and the lag besides the timer that measures it", () => {
  expect(metricsOfManager(text)).toEqual({
    managementRequests: { GET: 6, APPLY: 2 },
    tenantCalls: { GET: 7 },
    ...{ reconciles: 11, busy: 12, lagP99Ms: expect.closeTo(25), lagMaxMs: 0, heapMiB: 50, members: 3 },
  });
});
