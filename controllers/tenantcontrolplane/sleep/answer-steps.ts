/**
 * So many steps an answer about schedules may take, all of them together: each is a time at which something would happen, or would without
 * another. What fires often would otherwise occupy the process for seconds.
 */
const mostSteps = 256;

/** The steps that are left for one answer. */
export class AnswerSteps {
  #left: number;

  constructor(most: number = mostSteps) {
    this.#left = most;
  }

  /** True once there are none. */
  get areSpent(): boolean {
    return this.#left <= 0;
  }

  /** Takes one; false if there is none. */
  take(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}
