import { render } from 'preact';
import { useState } from 'preact/hooks';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { TextField } from './TextField';

interface Place {
  readonly city: string;
  readonly street: string;
}

let taken: Place;

/** Two fields of one value, each change of which keeps the other's part. */
function Address() {
  const [place, setPlace] = useState<Place>({ city: '', street: '' });
  taken = place;
  return (
    <>
      <TextField
        label="City"
        placeholder=""
        value={place.city}
        onChange={(city) => setPlace({ ...place, city })}
      />
      <TextField
        label="Street"
        placeholder=""
        value={place.street}
        onChange={(street) => setPlace({ ...place, street })}
      />
    </>
  );
}

function type(field: number, text: string): void {
  const input = document.querySelectorAll('input')[field];
  if (!input) throw new Error('there is no such field');
  input.value = text;
  act(() => {
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

function wait(milliseconds: number): void {
  act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  act(() => render(<Address />, document.body));
});

afterEach(() => {
  render(null, document.body);
  vi.useRealTimers();
});

it('takes what was typed once typing pauses', () => {
  type(0, 'Par');
  wait(200);
  type(0, 'Paris');
  wait(200);
  expect(taken.city).toBe('');
  wait(100);
  expect(taken.city).toBe('Paris');
});

it('keeps what was typed in another field just before', () => {
  type(0, 'Paris');
  wait(100);
  type(1, 'Rue Cler');
  wait(200);
  wait(200);
  expect(taken).toEqual({ city: 'Paris', street: 'Rue Cler' });
});
