// One board on one page: reads `?board=…&from=…&to=…&theme=…&var-name=…`, asks Prometheus, draws, and says when it is done.
import { Component, ReactNode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router-dom';
import { createTheme, DataFrame, ThemeContext } from '@grafana/data';
import { GlobalStyles, PanelChrome, PortalContainer } from '@grafana/ui';
import { prepared } from './frames';
import { Body, Mark } from './panel';
import { ask, interpolate, Range, stepOf, tableFrame, timeFrames, Variables, variablesOf } from './prometheus';

const COLUMN = 1600 / 24;
const ROW = 38; // Grafana's grid: 30 and a gap of 8

const query = new URLSearchParams(location.search);
const range: Range = { from: Number(query.get('from')), to: Number(query.get('to')) };
const scrape = Number(query.get('scrape') ?? 15);
const theme = createTheme({ colors: { mode: query.get('theme') === 'light' ? 'light' : 'dark' } });
const given: Variables = Object.fromEntries(
  [...query].filter(([name]) => name.startsWith('var-')).map(([name, value]) => [name.slice(4), value]));

type Loaded = { panel: any; frames: DataFrame[]; error?: string };

async function load(panel: any, variables: Variables): Promise<Loaded> {
  const replace = (text: string) => interpolate(text, range, variables, scrape);
  try {
    const frames: DataFrame[] = [];
    for (const target of panel.targets ?? []) {
      const series = await ask(replace(target.expr), target.instant === true, range, stepOf(range, scrape));
      if (target.format !== 'table') {
        frames.push(...timeFrames(series, target));
      } else if (series.length > 0) {
        frames.push(tableFrame(series, target));
      }
    }
    return { panel, frames: panel.type === 'text' ? [] : await prepared(panel, frames, theme, replace) };
  } catch (error) {
    return { panel, frames: [], error: String(error) };
  }
}

async function marksOf(board: any, variables: Variables): Promise<Mark[]> {
  const marks: Mark[] = [];
  const step = stepOf(range, scrape);
  for (const annotation of board.annotations.list.filter(({ expr }: any) => expr)) {
    const colour = theme.visualization.getColorByName(annotation.iconColor);
    for (const { metric, values } of await ask(interpolate(annotation.expr, range, variables, scrape), false, range, step)) {
      const text = annotation.titleFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_: string, label: string) => metric[label] ?? '');
      for (const [at] of values) {
        const last = marks[marks.length - 1];
        if (last && last.text === text && at - last.to <= step) {
          last.to = at; // one region, as Grafana joins points that follow each other
        } else {
          marks.push({ at, to: at, colour, text });
        }
      }
    }
  }
  return marks;
}

class Guard extends Component<{ children: ReactNode }, { error?: string }> {
  state: { error?: string } = {};
  static getDerivedStateFromError(error: unknown) { return { error: String(error) }; }
  render() { return this.state.error ? <div className="error">{this.state.error}</div> : this.props.children; }
}

function Panel({ loaded: { panel, frames, error }, marks, variables, top }: { loaded: Loaded; marks: Mark[]; variables: Variables; top: number }) {
  const { x, y, w, h } = panel.gridPos;
  const replace = (text: string) => interpolate(text, range, variables, scrape);
  const place = { position: 'absolute', left: x * COLUMN, top: top + y * ROW, width: w * COLUMN - 8, height: h * ROW - 8 } as const;
  if (panel.type === 'row') {
    return <h3 style={place}>{panel.title}</h3>;
  }
  const [width, height] = [w * COLUMN - 8, h * ROW - 8];
  return (
    <div style={place} data-panel={panel.title}>
      <PanelChrome title={replace(panel.title)} description={panel.description} width={width} height={height}>
        {(innerWidth, innerHeight) => error
          ? <div className="error">{error}</div>
          : <Guard><Body drawn={{ panel, frames, range, theme, marks, width: innerWidth, height: innerHeight }} replace={replace} /></Guard>}
      </PanelChrome>
    </div>
  );
}

function Page() {
  const [shown, show] = useState<{ board: any; variables: Variables; panels: Loaded[]; marks: Mark[] }>();
  useEffect(() => {
    (async () => {
      const board = await (await fetch(`/board/${query.get('board')}`)).json();
      const variables = await variablesOf(board, range, given);
      const panels = await Promise.all(board.panels.map((panel: any) => load(panel, variables)));
      show({ board, variables, panels, marks: await marksOf(board, variables) });
      setTimeout(() => { document.body.dataset.done = 'true'; }, 900); // the charts draw on the next frames
    })().catch((error) => { document.body.textContent = `failed: ${error}`; document.body.dataset.done = 'failed'; });
  }, []);
  if (!shown) { return null; }
  const { board, variables, panels, marks } = shown;
  const rows = Math.max(...board.panels.map(({ gridPos: { y, h } }: any) => y + h));
  const style = { position: 'relative', width: 1600, height: rows * ROW + 70, padding: '0 8px' } as const;
  const texts = [...new Set(marks.map(({ text }) => text))];
  return (
    <div id="board" style={style}>
      <h2>{board.title}</h2>
      <p className="marks">
        {texts.length === 0 ? 'Annotations: none in this time' : texts.map((text) => {
          const of = marks.filter((mark) => mark.text === text);
          return <span key={text} style={{ borderColor: of[0].colour }}>{text}{of.length > 1 ? ` ×${of.length}` : ''}</span>;
        })}
      </p>
      {panels.map((loaded) => <Panel key={loaded.panel.id} loaded={loaded} marks={marks} variables={variables} top={70} />)}
    </div>
  );
}

const css = `body { background: ${theme.colors.background.canvas}; margin: 0; }
h2 { margin: 8px 0 0; } h3 { font-size: 15px; padding-top: 12px; } .marks { font-size: 12px; height: 22px; overflow: hidden; margin: 4px 0 0; }
.marks span { border-left: 3px dashed; padding: 0 10px 0 5px; }
.empty { display: flex; align-items: center; justify-content: center; height: 100%; color: ${theme.colors.text.secondary}; }
.error { color: ${theme.colors.error.text}; } .markdown { font-size: 13px; } .markdown p { margin: 0 0 6px; }`;

createRoot(document.getElementById('root')!).render(
  <BrowserRouter>
    <ThemeContext.Provider value={theme}>
      <GlobalStyles /><style>{css}</style><PortalContainer /><Page />
    </ThemeContext.Provider>
  </BrowserRouter>);
