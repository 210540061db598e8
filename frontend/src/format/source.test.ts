import { describe, expect, it } from 'vitest';
import { lineName } from './source';

describe('lineName', () => {
  it('leaves out folders, and the name of what is no function', () => {
    const line = { file: '/home/me/train.py', line: 41, function: 'augment' };
    expect(lineName(line)).toBe('train.py:41 in augment');
    expect(lineName({ ...line, function: '<module>' })).toBe('train.py:41');
    expect(lineName({ ...line, file: '<stdin>' })).toBe('<stdin>:41 in augment');
    expect(lineName({ ...line, file: '' })).toBe('line 41 in augment');
  });
});
