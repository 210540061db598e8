import { create } from '@bufbuild/protobuf';
import { render } from 'preact';
import { afterEach, expect, it } from 'vitest';
import { KeeperSchema } from '../generated/datasets_pb';
import { Keepers } from './Keepers';

function shownOf(sizes: readonly bigint[], ofBytes?: bigint): [number, string] {
  const keepers = sizes.map((allocatedBytes, number) =>
    create(KeeperSchema, { allocatedBytes, count: 1n, chain: [`list ${number}`] }),
  );
  render(<Keepers keepers={keepers} ofBytes={ofBytes} />, document.body);
  const shown = document.querySelectorAll('.keepers > ul > li').length;
  return [shown, document.querySelector('summary')?.textContent ?? ''];
}

afterEach(() => render(null, document.body));

it('shows the five largest at first', () => {
  expect(shownOf([9n, 8n, 7n, 6n, 5n, 4n, 3n])).toEqual([5, '2 more']);
  expect(shownOf([9n, 8n])).toEqual([2, '']);
});

it('shows what keeps a part of the whole that counts, and always the largest', () => {
  expect(shownOf([500n, 20n, 9n, 1n], 1000n)).toEqual([2, '2 more']);
  expect(shownOf([5n, 4n], 1000n)).toEqual([1, '1 more']);
});
