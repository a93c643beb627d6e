import { describe, expect, test } from '@jest/globals';

import { readProbeLog } from './probe-log.ts';

const log = `I1126 01:02:03.000001       1 main.go:55] started
I1126 01:02:04.000001       1 main.go:76] calling /healthz
I1126 01:02:04.000002       1 main.go:95] authz_header=abc
I1126 01:02:05.000001       1 main.go:76] calling /healthz
I1126 01:02:05.000002       1 main.go:95] authz_header=abc
E1126 01:02:05.000003       1 main.go:79] status=failed
E1126 01:02:05.000004       1 main.go:80] error checking /healthz: Get "https://kubernetes.default.svc:443/healthz": EOF

I1126 01:02:06.000001       1 main.go:76] calling /healthz
I1126 01:02:06.000002       1 main.go:95] authz_header=abc
`;

describe('The log of a pod that calls its API server', () => {
  test('counts each call, and has the error of each that failed', () => {
    expect(readProbeLog(log)).toEqual({
      calls: 3,
      failed: ['Get "https://kubernetes.default.svc:443/healthz": EOF'],
    });
  });

  test('has no call when it is empty', () => {
    expect(readProbeLog('')).toEqual({ calls: 0, failed: [] });
  });
});
