import { describe, expect, it, vi } from 'vitest';
import { onTimeKey } from './timeKeys';

const VISIBLE = { from: 100, to: 300 };

describe('onTimeKey', () => {
  it('moves with the arrows, zooms around the middle and goes back with Home', () => {
    const actions = { onPan: vi.fn(), onZoom: vi.fn(), onReset: vi.fn() };
    for (const key of ['ArrowLeft', '+', 'Home']) {
      onTimeKey(new KeyboardEvent('keydown', { key }), VISIBLE, actions);
    }
    expect(actions.onPan).toHaveBeenCalledWith(-0.1);
    expect(actions.onZoom).toHaveBeenCalledWith(200, 0.5);
    expect(actions.onReset).toHaveBeenCalledOnce();
  });

  it("leaves the browser's own shortcuts and keys without a meaning alone", () => {
    const onZoom = vi.fn();
    const zoomsPage = new KeyboardEvent('keydown', { key: '+', ctrlKey: true, cancelable: true });
    const unused = new KeyboardEvent('keydown', { key: 'Enter', cancelable: true });
    onTimeKey(zoomsPage, VISIBLE, { onZoom });
    onTimeKey(unused, VISIBLE, { onZoom });
    expect(onZoom).not.toHaveBeenCalled();
    expect(zoomsPage.defaultPrevented || unused.defaultPrevented).toBe(false);
  });
});
