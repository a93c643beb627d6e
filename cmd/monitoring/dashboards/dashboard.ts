/** One line, bar or number of a panel. */
export interface Query {
  readonly expr: string;
  /** How a series is called; labels in `{{…}}`. */
  readonly legend: string;
}

/** A panel of a dashboard. */
export interface Panel {
  readonly title: string;
  /** What a reader has to know to interpret it. */
  readonly description: string;
  /** `timeseries` for what changes, `stat` for a number of now, `table` for a row for each series. */
  readonly type: 'timeseries' | 'stat' | 'table';
  /** Grafana's name of the unit, such as `bytes`, `s`, `short`. */
  readonly unit: string;
  readonly queries: readonly Query[];
}

/** A list from which a reader chooses, as Grafana fills it: `label_values(metric, label)`. */
export interface Choice {
  readonly name: string;
  readonly query: string;
}

/** A dashboard, from which Grafana's JSON follows. */
export interface Dashboard {
  /** Of the file, and of Grafana's address. */
  readonly name: string;
  readonly title: string;
  readonly choices: readonly Choice[];
  readonly panels: readonly Panel[];
}
