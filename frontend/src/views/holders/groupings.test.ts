import { describe, expect, it } from 'vitest';
import { GroupBy } from '../../generated/datasets_pb';
import { NO_FILTER } from '../../store/selection';
import { narrowTo } from './groupings';

describe('narrowTo', () => {
  it('goes down the scopes, from the one that is shown', () => {
    const inModel = { ...NO_FILTER, scope: 'model' };
    expect(narrowTo(GroupBy.GROUP_SCOPE, 'dense/inner', inModel).scope).toBe('model/dense/inner');
  });

  it('finds eager operations by their type: they have no scope', () => {
    expect(narrowTo(GroupBy.GROUP_SCOPE, '(eager ops)/MatMul', NO_FILTER)).toEqual({
      ...NO_FILTER,
      search: 'MatMul',
    });
  });

  it('leaves the filter alone where no filter can say it', () => {
    expect(narrowTo(GroupBy.GROUP_SCOPE, '(eager ops)', NO_FILTER)).toBe(NO_FILTER);
    expect(narrowTo(GroupBy.GROUP_DTYPE, '(no dtype)', NO_FILTER)).toBe(NO_FILTER);
    expect(narrowTo(GroupBy.GROUP_AGE, '1 s to 10 s', NO_FILTER)).toBe(NO_FILTER);
  });

  it('keeps a replica by its name in front of the layer', () => {
    expect(narrowTo(GroupBy.GROUP_REPLICA, 'replica_1', NO_FILTER).search).toBe('replica_1/');
    expect(narrowTo(GroupBy.GROUP_REPLICA, '(first replica, or none)', NO_FILTER)).toBe(NO_FILTER);
  });
});
