import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { CrashError } from '../../fake/fake-faults.ts';
import type { MadeCall } from '../world/product-call.ts';
import type { Fault, Strike } from './fault.ts';

/** What clients wait for an answer. */
const timeoutMs = 10_000;

/** A request that its sender has given up arrives after this time. */
const lateMs = 12_000;

/** How long a webhook refuses. */
const webhookMs = 30_000;

/** More than a Lease is valid. */
const leaseMs = 20_000;

/** How far a wall clock jumps: less than the hour after which a migration is given up. */
const jumpMs = 30 * 60_000;

/** After this time it is set right. */
const wrongMs = 30_000;

const everyCall = (): boolean => true;
const writes = ({ isWrite }: MadeCall): boolean => isWrite;
const ofApi = ({ to }: MadeCall): boolean => to !== 'datastore';
const writesOfApi = (call: MadeCall): boolean => writes(call) && ofApi(call);
const managementWrites = ({ to, isWrite }: MadeCall): boolean => to === 'management' && isWrite;
/** Only managers are elected, and only they are started a second time. */
const ofManager = ({ process }: MadeCall): boolean => process === 'manager';

/** What a client throws that got no answer. */
function noAnswer({ call }: Strike, why: string): Error {
  return call.to === 'datastore' ? new StoreError('Unreachable', why) : new UnreachableError(why);
}

/** Everything that happens to calls. */
export const faults: readonly Fault[] = [
  {
    name: 'kill',
    about: 'the process is killed after the call took effect, before it has the answer; another one is started',
    applies: everyCall,
    strike: async ({ world, process }, send) => {
      await send();
      world.kill(process);
      throw new CrashError('the process was killed before it had the answer');
    },
  },
  {
    name: 'lost-response',
    about: 'the call takes effect, and the connection is lost before the answer',
    applies: everyCall,
    strike: async (strike, send) => {
      await send();
      throw noAnswer(strike, 'read ECONNRESET');
    },
  },
  {
    name: 'cut',
    about:
      'the connection is lost in the middle of the request, which has no effect, and all watches end in the middle of a line',
    applies: everyCall,
    strike: (strike) => {
      strike.world.cluster.endWatches(new UnreachableError('unexpected end of a line'));
      return Promise.reject(noAnswer(strike, 'write EPIPE'));
    },
  },
  {
    name: 'timeout',
    about: 'no answer comes for 10 s, and the call has no effect',
    applies: everyCall,
    strike: async (strike, _send, signal) => {
      await strike.world.hold(timeoutMs, signal);
      throw noAnswer(strike, 'no answer within 10 s');
    },
  },
  {
    name: 'late',
    about: 'no answer comes for 10 s, and the call takes effect afterwards',
    applies: writes,
    strike: async (strike, send, signal) => {
      const { world } = strike;
      world.sendLate(lateMs, send);
      await world.hold(timeoutMs, signal);
      throw noAnswer(strike, 'no answer within 10 s');
    },
  },
  {
    name: 'conflict',
    about: 'the call is refused with 409 Conflict',
    applies: writesOfApi,
    strike: () => Promise.reject(new ApiError(409, 'Conflict', 'the object has been modified; please try again')),
  },
  {
    name: 'throttled',
    about: 'the call is refused with 429 and Retry-After: 5',
    applies: ofApi,
    strike: () =>
      Promise.reject(
        new ApiError(429, 'TooManyRequests', 'too many requests, please try again later', { retryAfterMs: 5000 }),
      ),
  },
  {
    name: 'error',
    about: 'the call is refused with 500; a datastore reports a failure',
    applies: everyCall,
    strike: ({ call }) =>
      Promise.reject(
        call.to === 'datastore'
          ? new StoreError('Failed', 'internal error')
          : new ApiError(500, 'InternalError', 'etcdserver: request timed out'),
      ),
  },
  {
    name: 'webhook',
    about: 'a webhook refuses this and all like it for 30 s',
    applies: writesOfApi,
    strike: ({ world, call: { to, text } }) => {
      const message = 'admission webhook "policy.example.com" denied the request: not now';
      const what = text.split(' ').slice(0, 2).join(' ');
      const denied = (): ApiError => new ApiError(403, 'Forbidden', message);
      world.refuse(webhookMs, (other) => {
        if (other.to === to && other.text.startsWith(what)) throw denied();
      });
      return Promise.reject(denied());
    },
  },
  {
    name: 'gone',
    about: 'the history is compacted and all watches are ended with 410 Gone',
    applies: ({ to }) => to === 'management',
    strike: ({ world }, send) => {
      world.cluster.compact();
      world.cluster.endWatches(new ApiError(410, 'Expired', 'too old resource version'));
      return send();
    },
  },
  {
    name: 'lease',
    about: 'the manager is cut off in the middle of the write, which arrives 20 s later, when another manager leads',
    applies: (call) => managementWrites(call) && ofManager(call),
    strike: async (strike, send, signal) => {
      const { world, process } = strike;
      process.cutOff();
      world.startManager('pod-1');
      world.sendLate(leaseMs, send);
      await world.hold(leaseMs, signal);
      throw noAnswer(strike, 'the network is down');
    },
  },
  {
    name: 'two',
    about: 'from this call on, a second manager is at work that nobody has elected',
    applies: ofManager,
    strike: ({ world }, send) => {
      world.startManager(undefined);
      return send();
    },
  },
  ...[jumpMs, -jumpMs].map((ms): Fault => {
    const where = ms > 0 ? 'forward' : 'back';
    return {
      name: `clock-${where}`,
      about: `the wall clock of the process jumps half an hour ${where}, and is right again after 30 s`,
      applies: everyCall,
      strike: ({ world, process }, send) => {
        process.clock.jump(ms);
        world.clock.after(wrongMs, () => {
          process.clock.jump(-ms);
        });
        return send();
      },
    };
  }),
];
