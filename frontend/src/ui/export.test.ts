import { describe, expect, it } from 'vitest';
import { toCsv, toTabs } from './export';

describe('toCsv', () => {
  it('quotes what would break a row', () => {
    expect(
      toCsv([
        ['op', 'shape'],
        ['a "b"', '[8, 16]'],
      ]),
    ).toBe('op,shape\r\n"a ""b""","[8, 16]"\r\n');
  });

  it('does not hand a formula from an op name to a spreadsheet', () => {
    expect(toCsv([['=cmd()', '@x', '-cmd()', '+1', '\t=1', '-1+cmd()', '-1 -x()']])).toBe(
      "'=cmd(),'@x,'-cmd(),'+1,'\t=1,'-1+cmd(),'-1 -x()\r\n",
    );
    expect(toCsv([['-1', '-1.5 MiB', '-2e-7', '-.5', '-12 %']])).toBe(
      '-1,-1.5 MiB,-2e-7,-.5,-12 %\r\n',
    );
  });
});

describe('toTabs', () => {
  it('keeps a name with a tab in one cell', () => {
    expect(toTabs([['a\tb', 'c']])).toBe('a b\tc');
  });
});
