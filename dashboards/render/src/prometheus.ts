// What a board asks of Prometheus, and what comes back as Grafana's data frames. Knows nothing of how it is drawn.
import { DataFrame, FieldType, toDataFrame } from '@grafana/data';

export type Range = { from: number; to: number }; // seconds since 1970
export type Variables = Record<string, string>;
export type Series = { metric: Record<string, string>; values: Array<[number, string]> };

const SCRAPE_S = 15;
const POINTS = 600; // a panel of half the page is about as many pixels wide

const spelt = (seconds: number) => `${Math.max(1, Math.round(seconds))}s`;

export function stepOf({ from, to }: Range, scrape = SCRAPE_S): number {
  return Math.max(scrape, Math.ceil((to - from) / POINTS));
}

export function interpolate(text: string, range: Range, variables: Variables, scrape = SCRAPE_S): string {
  const step = stepOf(range, scrape);
  const seconds = range.to - range.from;
  const built: Variables = {
    __rate_interval: spelt(Math.max(step + scrape, 4 * scrape)),
    __interval: spelt(step),
    __range: spelt(seconds),
    __range_s: String(Math.round(seconds)),
    __url_time_range: `from=${range.from * 1000}&to=${range.to * 1000}`,
  };
  const all: Variables = { ...variables, ...built };
  return text.replace(/\$(?:\{(\w+)(?::\w+)?\}|(\w+))/g, (whole, braced, plain) => all[braced ?? plain] ?? whole);
}

async function api(path: string, query: Record<string, string>): Promise<any> {
  const response = await fetch(`/api/v1/${path}?${new URLSearchParams(query)}`);
  const answer = await response.json();
  if (answer.status !== 'success') {
    throw new Error(answer.error ?? `HTTP ${response.status}`);
  }
  return answer.data;
}

export async function ask(expr: string, instant: boolean, range: Range, step: number): Promise<Series[]> {
  if (instant) {
    const { result } = await api('query', { query: expr, time: String(range.to) });
    return result.map((one: any) => ({ metric: one.metric, values: [one.value] }));
  }
  const start = Math.floor(range.from / step) * step;
  const { result } = await api('query_range', {
    query: expr, start: String(start), end: String(range.to), step: String(step),
  });
  return result;
}

async function labelValues(query: string, range: Range): Promise<string[]> {
  const found = /^label_values\((?:(.*),)?\s*(\w+)\)$/.exec(query);
  if (!found) {
    throw new Error(`a variable asks for \`${query}\`, which is not label_values(…)`);
  }
  const match: Record<string, string> = found[1] ? { 'match[]': found[1].trim() } : {};
  return api(`label/${found[2]}/values`, { ...match, start: String(range.from), end: String(range.to) });
}

// The values of a board's variables: those given, else all, else the first. Later ones may name earlier ones.
export async function variablesOf(board: any, range: Range, given: Variables): Promise<Variables> {
  const values: Variables = {};
  for (const variable of board.templating.list) {
    if (given[variable.name] !== undefined) {
      values[variable.name] = given[variable.name];
    } else if (variable.type === 'datasource') {
      values[variable.name] = 'prometheus';
    } else if (variable.type === 'custom') {
      values[variable.name] = String(variable.current.value);
    } else if (variable.includeAll) {
      values[variable.name] = variable.allValue;
    } else {
      const query = variable.query.query ?? variable.query;
      const found = await labelValues(interpolate(query, range, values), range);
      values[variable.name] = (variable.sort === 2 ? found.reverse() : found)[0] ?? '';
    }
  }
  return values;
}

const named = (format: string | undefined, labels: Record<string, string>) =>
  format && format !== '__auto' ? format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? '') : undefined;

// One frame a series, as Grafana's own data source makes them for `format: time_series`.
export function timeFrames(series: Series[], target: any): DataFrame[] {
  return series.map(({ metric, values }) => {
    const { __name__, ...labels } = metric;
    const name = named(target.legendFormat, labels);
    return toDataFrame({
      refId: target.refId,
      name,
      fields: [
        { name: 'Time', type: FieldType.time, values: values.map(([at]) => at * 1000) },
        {
          name: 'Value', type: FieldType.number, labels, values: values.map(([, value]) => Number(value)),
          config: name === undefined ? {} : { displayNameFromDS: name },
        },
      ],
    });
  });
}

// One frame a query with a column a label, as for `format: table`.
export function tableFrame(series: Series[], target: any): DataFrame {
  const keys = [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))].sort();
  return toDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: series.map(({ values }) => values[0][0] * 1000) },
      ...keys.map((key) => ({ name: key, type: FieldType.string, values: series.map(({ metric }) => metric[key] ?? '') })),
      { name: `Value #${target.refId}`, type: FieldType.number, values: series.map(({ values }) => Number(values[0][1])) },
    ],
  });
}
