import { Session } from 'node:inspector/promises';

import type { Clock } from '../clock.ts';
import { sleep } from '../clock.ts';
import type { Page, Pages } from './http-endpoints.ts';

/** Seconds that a profile may take: a connection without an answer is ended after 30. */
const longest = 25;
const byDefault = 10;

/** One kind of profile: the commands for the inspector at its beginning and at its end. */
interface Profile {
  readonly start: (session: Session) => Promise<void>;
  /** The profile in the format of Chrome's DevTools. */
  readonly stop: (session: Session) => Promise<object>;
}

const cpu: Profile = {
  start: async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  },
  stop: async (session) => (await session.post('Profiler.stop')).profile,
};

/** Which functions allocate how much; unlike a snapshot of the heap, it has no content, and so no keys. */
const heap: Profile = {
  start: (session) => session.post('HeapProfiler.startSampling'),
  stop: async (session) => (await session.post('HeapProfiler.stopSampling')).profile,
};

/** `/debug/profiles/cpu` and `/debug/profiles/heap`, each with `?seconds=`. One profile at a time. */
export function profilePages(clock: Clock): Pages {
  let isBusy = false;
  const page = (profile: Profile) => async (_path: string, query: URLSearchParams) => {
    const seconds = Number(query.get('seconds') ?? byDefault);
    if (!(seconds > 0 && seconds <= longest))
      return text(400, `seconds takes a number up to ${longest}, got "${query.get('seconds') ?? ''}"`);
    if (isBusy) return text(429, 'another profile is being taken');
    isBusy = true;
    const session = new Session();
    try {
      session.connect();
      await profile.start(session);
      await sleep(clock, seconds * 1000);
      const body = JSON.stringify(await profile.stop(session));
      return { code: 200, type: 'application/json; charset=utf-8', body };
    } finally {
      session.disconnect();
      isBusy = false;
    }
  };
  return { '/debug/profiles/cpu': page(cpu), '/debug/profiles/heap': page(heap) };
}

function text(code: number, line: string): Page {
  return { code, type: 'text/plain; charset=utf-8', body: `${line}\n` };
}
