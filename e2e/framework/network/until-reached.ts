import { setTimeout as pause } from 'node:timers/promises';

import { deadlineIn } from '../deadline-in.ts';
import { minutes } from '../minutes.ts';

/**
 * Repeats what goes through routes and rules that are set a moment after what they lead to is Ready: kube-proxy and the pod network learn
 * of a pod from its status, and connections are refused until then.
 * @throws what it threw last, when it has not succeeded within a minute on a good machine.
 */
export async function untilReached<T>(act: () => Promise<T>): Promise<T> {
  for (const deadline = deadlineIn(minutes); ;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(200);
    }
  }
}
