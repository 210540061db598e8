import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type PerfettoUi, startPerfettoUi } from './perfetto_ui';
import { openPage, useBrowser } from './tab';
import { COMMAND } from './tensorboard';

useBrowser();

/** What Perfetto's page has for those who look into it. */
interface PerfettoWindow {
  readonly app: {
    readonly trace?: {
      readonly engine: {
        query(sql: string): Promise<{ iter(spec: object): { get(column: string): unknown } }>;
      };
    };
  };
}

describe('the trace that --format=perfetto writes', () => {
  let folder: string;
  let run: string;
  let perfetto: PerfettoUi;
  let page: Page;

  /** The one value that a query of the trace processor gives, as text. */
  const value = (sql: string): Promise<string> =>
    page.evaluate(async (asked) => {
      const { trace } = (window as unknown as PerfettoWindow).app;
      if (!trace) throw new Error('Perfetto has no trace');
      return String((await trace.engine.query(`select (${asked}) as value`)).iter({}).get('value'));
    }, sql);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'oom-forensics-perfetto-'));
    run = join(inject('logdir'), 'fragmentation');
    const trace = join(folder, 'run.pftrace');
    execFileSync(COMMAND, ['convert', run, '--format=perfetto', '-o', trace]);
    perfetto = await startPerfettoUi(trace);
  });
  afterAll(() => {
    perfetto.stop();
    rmSync(folder, { recursive: true });
  });

  it('opens in Perfetto, whose trace processor reads what the datasets say', async () => {
    ({ page } = await openPage('about:blank'));
    await page.route(
      ({ hostname }) => hostname !== '127.0.0.1',
      (route) => route.abort(),
    );
    await page.goto(perfetto.url);
    await page.waitForFunction(() => (window as unknown as PerfettoWindow).app?.trace);
    await page.getByText('worker-0', { exact: true }).first().waitFor();
    expect(await value("select sum(value) from stats where severity in ('error', 'data_loss')")).toBe('0');

    const dataset = (...query: string[]) =>
      JSON.parse(execFileSync(COMMAND, ['convert', run, ...query], { encoding: 'utf8' }));
    const [allocator] = dataset('--dataset=info').hosts[0].allocators;
    const highest = (track: string) =>
      value(
        `select cast(max(value) as int) from counter join track on track.id = track_id where track.name = '${track}'`,
      );
    expect(await highest('In use')).toBe(allocator.peakInUseBytes);
    expect(await highest('Reserved')).toBe(allocator.peakReservedBytes);
    expect(await highest('Limit')).toBe(allocator.limitBytes);

    const [oom] = dataset('--dataset=oom_window').ooms;
    const argument = (key: string) =>
      value(`select display_value from slice join args using (arg_set_id)
             where slice.name = 'OOM 0' and args.key = 'debug.${key}'`);
    expect(await value("select ts from slice where name = 'OOM 0'")).toBe(oom.timeNs);
    expect(await argument('sentence')).toBe(oom.verdict.sentence);
    expect(await argument('requested_bytes')).toBe(oom.request.requestedBytes);

    const { totalCount } = dataset('--dataset=allocations', '--range', '--rows=1');
    const slices = `select count(*) from slice join track on track.id = track_id where track.name = 'Allocations'`;
    expect(await value(slices)).toBe(totalCount);
  });
});
