// How each type of panel is drawn. What is not here is an error on the page, never an empty box.
import { DataFrame, dateTime, FieldType, getFieldDisplayValues, GrafanaTheme2, renderMarkdown, VizOrientation } from '@grafana/data';
import { BarGauge, BigValue, TimeSeries, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { Range } from './prometheus';

export type Mark = { at: number; to: number; colour: string; text: string };
type Drawn = { panel: any; frames: DataFrame[]; range: Range; theme: GrafanaTheme2; marks: Mark[]; width: number; height: number };

const isEmpty = (frames: DataFrame[]) => frames.every(({ length }) => length === 0);

function timeRange({ from, to }: Range) {
  const [start, end] = [dateTime(from * 1000), dateTime(to * 1000)];
  return { from: start, to: end, raw: { from: start, to: end } };
}

// Dashed lines where an annotation begins, in the canvas of the plot.
function drawMarks(builder: any, marks: Mark[]) {
  builder.addHook('draw', (plot: any) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([4, 3]);
    for (const { at, colour } of marks) {
      const x = Math.round(plot.valToPos(at * 1000, 'x', true));
      if (x >= bbox.left && x <= bbox.left + bbox.width) {
        ctx.strokeStyle = colour;
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
      }
    }
    ctx.restore();
  });
  return null;
}

function Series({ panel, frames, range, marks, width, height }: Drawn) {
  return (
    <TimeSeries frames={frames} width={width} height={height} timeRange={timeRange(range)} timeZone="utc"
      legend={panel.options.legend} options={panel.options}>
      {(builder: any) => drawMarks(builder, marks)}
    </TimeSeries>
  );
}

function values({ panel, frames, theme }: Drawn, replace: (text: string) => string) {
  return getFieldDisplayValues({
    fieldConfig: panel.fieldConfig, reduceOptions: panel.options.reduceOptions, replaceVariables: replace, theme,
    data: frames, sparkline: panel.options.graphMode === 'area', timeZone: 'utc',
  });
}

function Repeated({ drawn, replace }: { drawn: Drawn; replace: (text: string) => string }) {
  const { panel, frames, theme, width, height } = drawn;
  const isBar = panel.type === 'bargauge';
  return (
    <VizRepeater width={width} height={height} source={frames} renderCounter={0} getValues={() => values(drawn, replace)}
      orientation={panel.options.orientation as VizOrientation} itemSpacing={isBar ? 6 : 4} minVizHeight={isBar ? panel.options.minVizHeight : 40}
      maxVizHeight={isBar ? panel.options.maxVizHeight : undefined}
      renderValue={({ value, width: w, height: h, count, orientation }: any) =>
        isBar ? (
          <BarGauge value={value.display} width={w} height={h} orientation={orientation} field={value.field}
            display={value.view?.getFieldDisplayProcessor?.(value.colIndex)} theme={theme} itemSpacing={6}
            displayMode={panel.options.displayMode} showUnfilled={panel.options.showUnfilled}
            valueDisplayMode={panel.options.valueMode} namePlacement={panel.options.namePlacement}
            alignmentFactors={{ title: 'x'.repeat(28), text: '100.0%' } as any} />
        ) : (
          <BigValue value={value.display} count={count} width={w} height={h} theme={theme} sparkline={value.sparkline}
            colorMode={panel.options.colorMode} graphMode={panel.options.graphMode} justifyMode={panel.options.justifyMode}
            textMode={panel.options.textMode} text={panel.options.text} />
        )} />
  );
}

// Grafana keeps the drawing of state timelines in its server; these are rectangles of our own, with Grafana's texts.
function Timeline({ frames, range, theme, width, height }: Drawn) {
  const rows = frames.flatMap((frame) => {
    const time = frame.fields.find(({ type }) => type === FieldType.time);
    return frame.fields.filter(({ type }) => type === FieldType.number).map((field) => ({ field, time }));
  });
  const [left, bottom] = [150, 22];
  const x = (ms: number) => left + ((ms / 1000 - range.from) / (range.to - range.from)) * (width - left - 8);
  const tall = Math.min(36, (height - bottom) / Math.max(1, rows.length));
  const bars = rows.map(({ field, time }: any, row) => {
    const [at, all] = [time.values, field.values];
    const spans: Array<{ from: number; to: number; value: number }> = [];
    const step = at.length > 1 ? at[1] - at[0] : 15000;
    for (let i = 0; i < all.length; i++) {
      const last = spans[spans.length - 1];
      if (last && last.value === all[i] && at[i] - last.to <= 2 * step) {
        last.to = at[i];
      } else {
        if (last && at[i] - last.to <= 2 * step) { last.to = at[i]; }
        spans.push({ from: at[i], to: at[i], value: all[i] });
      }
    }
    return (
      <g key={row}>
        <text x={left - 8} y={row * tall + tall / 2 + 4} textAnchor="end" fontSize={12} fill={theme.colors.text.primary}>
          {field.state?.displayName ?? field.name}
        </text>
        {spans.map(({ from, to, value }, i) => {
          const shown = field.display(value);
          const wide = Math.max(2, x(to) - x(from));
          return (
            <g key={i}>
              <rect x={x(from)} y={row * tall + 2} width={wide} height={tall - 4} fill={shown.color} fillOpacity={0.75} />
              {wide > 7 * shown.text.length && (
                <text x={x(from) + 4} y={row * tall + tall / 2 + 4} fontSize={11} fill={theme.colors.getContrastText(shown.color)}>
                  {shown.text}
                </text>
              )}
            </g>
          );
        })}
      </g>
    );
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => range.from + part * (range.to - range.from));
  return (
    <svg width={width} height={height}>
      {bars}
      {ticks.map((at) => (
        <text key={at} x={x(at * 1000)} y={height - 6} fontSize={11} fill={theme.colors.text.secondary}
          textAnchor={at === range.from ? 'start' : at === range.to ? 'end' : 'middle'}>
          {new Date(at * 1000).toISOString().slice(11, 16)}
        </text>
      ))}
    </svg>
  );
}

export function Body({ drawn, replace }: { drawn: Drawn; replace: (text: string) => string }) {
  const { panel, frames, theme, width, height } = drawn;
  if (panel.type === 'text') {
    const html = renderMarkdown(replace(panel.options.content));
    return <div className="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
  }
  if (isEmpty(frames)) {
    return <div className="empty">{panel.fieldConfig.defaults.noValue ?? 'No data'}</div>;
  }
  switch (panel.type) {
    case 'timeseries': return <Series {...drawn} />;
    case 'stat': case 'bargauge': return <Repeated drawn={drawn} replace={replace} />;
    case 'state-timeline': return <Timeline {...drawn} />;
    case 'table':
      return <TableNG data={frames[0]} width={width} height={height} cellHeight={'sm' as any} theme={theme}
        getActions={() => []} onCellFilterAdded={undefined} {...({} as any)} />;
    default: throw new Error(`panels of type ${panel.type} are not drawn here`);
  }
}
