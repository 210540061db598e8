import { coloursOf } from '../chart/nameColours';
import { paletteOf } from '../chart/palette';
import { theme } from '../store/theme';
import { Card } from '../ui/Card';
import { type DataColumn, tableText } from '../ui/DataTable';
import { Legend } from '../ui/Legend';
import { Empty } from '../ui/Notices';
import { verdictTitle } from '../views/story/verdict';
import type { DayRow } from './answers';
import { daysOf } from './days';

const HEIGHT = 160;
const WIDTH = 1000;
const WIDEST_BAR = 48;

const COLUMNS: readonly DataColumn<DayRow>[] = [
  { title: 'Day', text: ({ day }) => day },
  { title: 'Verdict', text: ({ verdict }) => verdict },
  { title: 'Incidents', numeric: true, text: ({ incidents }) => String(incidents) },
];

/** Incidents by day, stacked by verdict. */
export function OomsOverTime({ rows }: { readonly rows: readonly DayRow[] }) {
  const { verdicts, bars, most } = daysOf(rows);
  const colours = coloursOf(paletteOf(theme.value), verdicts);
  const slot = WIDTH / Math.max(1, bars.length);
  const barWidth = Math.min(WIDEST_BAR, slot * 0.8);
  return (
    <Card
      title="Out of memory, by day"
      note="One out-of-memory and what fell with it is one incident"
      exports={{ name: 'ooms_over_time', table: () => tableText(COLUMNS, rows) }}
    >
      {bars.length === 0 ? (
        <Empty title="No job ran out of memory">
          <p>None of the runs that were converted has a refused request.</p>
        </Empty>
      ) : (
        <figure class="fleet-days">
          <Legend
            label="Colors"
            entries={verdicts.map((verdict, index) => ({
              name: verdictTitle(verdict),
              colour: colours[index] ?? '',
            }))}
          />
          <svg
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`Incidents by day, at most ${most} a day`}
          >
            {bars.map((bar, index) => {
              let top = HEIGHT;
              return bar.counts.map((count, verdict) => {
                if (count === 0) return null;
                const height = (count / most) * HEIGHT;
                top -= height;
                return (
                  <rect
                    key={`${bar.day} ${verdicts[verdict]}`}
                    x={index * slot + (slot - barWidth) / 2}
                    y={top}
                    width={barWidth}
                    height={height}
                    fill={colours[verdict]}
                  >
                    <title>
                      {`${bar.day}: ${count} × ${verdictTitle(verdicts[verdict] ?? '')}, ${bar.total} in all`}
                    </title>
                  </rect>
                );
              });
            })}
          </svg>
          <figcaption>
            <span>{bars[0]?.day}</span>
            <span>at most {most} a day</span>
            <span>{bars.at(-1)?.day}</span>
          </figcaption>
        </figure>
      )}
    </Card>
  );
}
