/** A process whose usage was to be read has ended: it has no memory anymore, even if its parent has not heard of it yet. */
export class EndedProcess extends Error {
  constructor(options?: ErrorOptions) {
    super('the process has ended, or is ending: it has no memory', options);
    this.name = 'EndedProcess';
  }
}
