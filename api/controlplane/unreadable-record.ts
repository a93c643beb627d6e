/** What a StewardControlPlane has on record of kept data, when nobody of ours can have written it: where the data is is not known. */
export class UnreadableRecord {
  /** What is wrong with it, without what it says. */
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}
