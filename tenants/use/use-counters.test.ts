import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { apiServerMetrics } from '../../testing/builders/api-server-metrics.ts';
import { readSample } from './sample-line.ts';
import { mostCharacters, readUseCounters } from './use-counters.ts';
import type { UseCounters } from './use-counters.ts';

const lines = (text: string) =>
  (async function* () {
    await Promise.resolve();
    yield* text.split('\n');
  })();
const readText = (text: string): Promise<UseCounters> => readUseCounters(lines(text));

describe('The counters of an API server', () => {
  test('tell requests in the background from all others, by FlowSchema', async () => {
    const requests = {
      exempt: 100,
      probes: 20,
      'system-node-high': 3,
      'steward-background': 4,
      'steward-background-ingress': 5,
      'steward-backgrounds': 6,
      'global-default': 7,
      'service-accounts': 8,
      'of-the-tenant': 9,
    };
    const { requests: use, background } = await readText(apiServerMetrics({ requests }));
    expect([...use]).toEqual([
      ['steward-backgrounds', 6],
      ['global-default', 7],
      ['service-accounts', 8],
      ['of-the-tenant', 9],
    ]);
    expect(background).toBe(132);
  });

  test('have open watches by what they watch, other requests that run, and calls of exec', async () => {
    const found = await readText(
      apiServerMetrics({
        requests: { exempt: 1 },
        connects: 2,
        watches: { pods: 3, nodes: 1 },
        streams: { exec: 1, log: 2 },
      }),
    );
    expect(found).toMatchObject({ connects: 2, streams: 3 });
    expect([...found.watches.values()]).toEqual([3, 1]);
  });

  test('are read no further than the last one that matters', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<string> {
      await Promise.resolve();
      for (const line of apiServerMetrics({ requests: { exempt: 1 } }).split('\n')) {
        given += 1;
        yield line;
      }
      for (;;) {
        given += 1;
        yield 'apiserver_response_sizes 1';
      }
    }
    await readUseCounters(endless());
    expect(given).toBe(
      apiServerMetrics({ requests: { exempt: 1 } })
        .split('\n')
        .indexOf('# HELP apiserver_request_total [STABLE] Counter of apiserver requests.') + 1,
    );
  });

  test('are not read without an end', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<string> {
      await Promise.resolve();
      for (;;) {
        given += 1001;
        yield 'a'.repeat(1000);
      }
    }
    await expect(readUseCounters(endless())).rejects.toThrow('is not within the first');
    expect(given).toBeLessThanOrEqual(mostCharacters + 1001);
  });

  test('are unknown if nothing counts requests, or if there are too many of them', async () => {
    await expect(readText('# HELP apiserver_request_total x\n')).rejects.toThrow('--enable-priority-and-fairness');
    const names = Array.from({ length: 20_001 }, (_, index) => [`flow-${index}`, 1] as const);
    await expect(readText(apiServerMetrics({ requests: Object.fromEntries(names) }))).rejects.toThrow('more than');
  });

  test('are read, whatever the answer is', async () => {
    const word = fc.string({ maxLength: 40 });
    const hostile = fc.oneof(
      word,
      word.map((text) => `apiserver_flowcontrol_dispatched_requests_total{flow_schema="${text}"} 1`),
      fc.tuple(word, word).map(([labels, value]) => `apiserver_longrunning_requests{${labels}} ${value}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 20 }), async (list) => {
        const text = `${apiServerMetrics({ requests: { exempt: 1 } }).split('# HELP apiserver_request_total')[0] ?? ''}${list.join('\n')}`;
        const { background, streams, connects } = await readText(text);
        for (const count of [background, streams, connects]) expect(Number.isFinite(count) && count >= 0).toBe(true);
      }),
    );
  });
});

describe('A line of the text format', () => {
  test.each([
    ['a 1', { name: 'a', value: 1, labels: [] }],
    [
      'a{b="c",d="e"} 2.5e+3 1700000000',
      {
        name: 'a',
        value: 2500,
        labels: [
          ['b', 'c'],
          ['d', 'e'],
        ],
      },
    ],
    ['a{b="}\\"\\\\\\n",} 0', { name: 'a', value: 0, labels: [['b', '}"\\\n']] }],
  ])('is read: %s', (text, expected) => {
    const found = readSample(text);
    expect(found === undefined ? undefined : { ...found, labels: [...found.labels] }).toEqual(expected);
  });

  test.each(['', '# HELP a 1', 'a', 'a{b="c"}', 'a NaN', 'a +Inf', 'a -1', '{b="c"} 1'])(
    'is left out if it has no name or no number that counts: "%s"',
    (text) => {
      expect(readSample(text)).toBeUndefined();
    },
  );

  test('is read as it was written', () => {
    const escape = (text: string): string => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/), fc.string()),
        fc.nat(),
        (labels, value) => {
          const inside = Object.entries(labels).map(([key, text]) => `${key}="${escape(text)}"`);
          const found = readSample(`metric{${inside.join(',')}} ${value}`);
          expect(Object.fromEntries(found?.labels ?? [])).toEqual({ ...labels });
          expect(found?.value).toBe(value);
        },
      ),
    );
  });
});
