import { describe, expect, it } from 'vitest';
import { runsOfFiles } from './filesToRuns';

const data = new Blob([]);
const named = (...paths: string[]) => paths.map((path) => ({ path, data }));
const summary = (paths: string[], hostsOfOneRun = false) =>
  runsOfFiles(named(...paths), hostsOfOneRun).map(({ run, files }) => [
    run,
    files.map(({ name }) => name),
  ]);

describe('runsOfFiles', () => {
  it('takes files by themselves as runs to compare', () => {
    expect(summary(['before.xplane.pb', 'after.xplane.pb.gz'])).toEqual([
      ['before.xplane.pb', ['before.xplane.pb']],
      ['after.xplane.pb', ['after.xplane.pb']],
    ]);
  });

  it('takes the traces of a folder as the hosts of one run', () => {
    expect(
      summary(['logdir/run/a.xplane.pb', 'logdir/run/b.xplane.pb', 'logdir/run/b.json']),
    ).toEqual([['logdir/run', ['a.xplane.pb', 'b.xplane.pb']]]);
  });

  it('leaves what other tools wrote beside a trace', () => {
    expect(summary(['run/vm.overview_page.pb', 'run/vm.xplane.pb'])).toEqual([
      ['run', ['vm.xplane.pb']],
    ]);
  });

  it('tells files of one name apart', () => {
    expect(summary(['vm.xplane.pb', 'vm.xplane.pb'])).toEqual([
      ['vm.xplane.pb', ['vm.xplane.pb']],
      ['vm.xplane.pb (2)', ['vm.xplane.pb']],
    ]);
  });

  it('takes files as hosts where the reader says so', () => {
    expect(summary(['a.xplane.pb', 'b.xplane.pb'], true)).toEqual([
      ['opened files', ['a.xplane.pb', 'b.xplane.pb']],
    ]);
  });

  it('says what it opens where there is no trace among them', () => {
    expect(() => runsOfFiles(named('notes.txt'), false)).toThrow('This is no trace');
  });
});
